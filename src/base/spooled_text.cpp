#include "base/spooled_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

namespace muster {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::FILE* open_temporary_file() {
    std::string path = std::filesystem::temp_directory_path() / "muster-XXXXXX";
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) fail("cannot create a temporary file like " + path);
    unlink(path.c_str());
    std::FILE* file = fdopen(fd, "w+b");
    if (!file) {
        close(fd);
        fail("fdopen");
    }
    std::setvbuf(file, nullptr, _IOFBF, kPieceBytes);
    return file;
}

}  // namespace

void SpooledText::append(std::string_view piece) {
    if (!rest_ && beginning_.size() + piece.size() <= most_in_memory_) {
        beginning_ += piece;
    } else {
        if (!rest_) rest_.reset(open_temporary_file());
        if (std::fwrite(piece.data(), 1, piece.size(), rest_.get()) != piece.size()) {
            fail("cannot write a temporary file");
        }
    }
    size_ += piece.size();
}

void SpooledText::finish() {
    if (rest_ && std::fflush(rest_.get()) != 0) fail("cannot write a temporary file");
}

void SpooledText::read(const std::function<bool(std::string_view)>& sink) {
    if (!sink(beginning_) || !rest_) return;
    std::rewind(rest_.get());
    std::vector<char> piece(kPieceBytes);
    while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), rest_.get())) {
        if (!sink({piece.data(), got})) return;
    }
    if (std::ferror(rest_.get())) fail("cannot read a temporary file");
}

}  // namespace muster
