#include "client/temporary_file.hpp"

#include "base/command_line.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace muster::client {
namespace {

std::string temporary_folder() {
    const char* folder = std::getenv("TMPDIR");
    return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

void TemporaryFile::fail(int error) {
    throw UsageError("a temporary file in " + temporary_folder() + " cannot be written: " +
                     std::generic_category().message(error) + "; set TMPDIR to another folder");
}

TemporaryFile::TemporaryFile() {
    std::string name = temporary_folder() + "/muster-import-XXXXXX";
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);  // mode 600
    if (descriptor_ < 0) fail(errno);
    unlink(name.c_str());
}

TemporaryFile::~TemporaryFile() {
    close(descriptor_);
}

void TemporaryFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(errno);
        bytes.remove_prefix(static_cast<std::size_t>(count));
        size_ += count;
    }
}

void TemporaryFile::truncate(std::int64_t size) {
    if (ftruncate(descriptor_, size) != 0 || lseek(descriptor_, size, SEEK_SET) < 0) fail(errno);
    size_ = size;
}

}  // namespace muster::client
