#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace muster {
namespace {

std::string temporary_folder() {
    const char* folder = std::getenv("TMPDIR");
    return folder != nullptr && *folder != '\0' ? folder : "/var/tmp";
}

[[noreturn]] void fail(const char* what, int error) {
    throw TemporaryFileError("a temporary file in " + temporary_folder() + " cannot be " + what +
                             ": " + std::generic_category().message(error) +
                             "; set TMPDIR to another folder");
}

}  // namespace

TemporaryFile::TemporaryFile() {
    std::string name = temporary_folder() + "/muster-XXXXXX";
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);  // mode 600
    if (descriptor_ < 0) fail("created", errno);
    unlink(name.c_str());
}

TemporaryFile::~TemporaryFile() {
    close(descriptor_);
}

void TemporaryFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("written", errno);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        size_ += count;
    }
}

std::size_t TemporaryFile::read(std::int64_t place, std::span<char> to) const {
    ssize_t count = 0;
    do {
        count = pread(descriptor_, to.data(), to.size(), place);
    } while (count < 0 && errno == EINTR);
    if (count < 0) fail("read", errno);
    return static_cast<std::size_t>(count);
}

void TemporaryFile::truncate(std::int64_t size) {
    if (ftruncate(descriptor_, size) != 0 || lseek(descriptor_, size, SEEK_SET) < 0) {
        fail("written", errno);
    }
    size_ = size;
}

}  // namespace muster
