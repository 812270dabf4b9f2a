#include "base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace muster {
namespace {

// Without waiting for the other end of a pipe.
class OpenedFile {
  public:
    explicit OpenedFile(const std::string& path)
        : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
    ~OpenedFile() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    OpenedFile(const OpenedFile&) = delete;
    OpenedFile& operator=(const OpenedFile&) = delete;

    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
};

std::string kind_problem(mode_t mode) {
    if (S_ISDIR(mode)) return reading_problem(EISDIR);
    return S_ISREG(mode) ? "" : "it is a device, a pipe or a socket; use a regular file";
}

}  // namespace

std::string reading_problem(int error) {
    if (error == EISDIR) return "it is a folder";
    const std::string reason = std::generic_category().message(error);
    return error == EACCES ? reason + "; run the program as the system user muster (sudo -u muster)"
                           : reason;
}

RegularFile read_regular_file(const std::string& path, std::size_t most) {
    struct stat found {};
    // Before it is opened, which a device may act upon.
    if (stat(path.c_str(), &found) != 0) return {"", reading_problem(errno)};
    if (std::string problem = kind_problem(found.st_mode); !problem.empty()) return {"", problem};
    const OpenedFile file(path);
    if (file.descriptor() < 0) return {"", reading_problem(errno)};
    std::string bytes(most, '\0');
    std::size_t size = 0;
    while (size < most) {
        const ssize_t count = read(file.descriptor(), bytes.data() + size, most - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {"", reading_problem(errno)};
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    bytes.resize(size);
    return {std::move(bytes), ""};
}

bool has_certificate(std::string_view text) {
    for (const char* kind : {"", "TRUSTED ", "X509 "}) {
        const std::string beginning = "-----BEGIN " + std::string(kind) + "CERTIFICATE-----";
        if (text.find(beginning) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace muster
