// A file without a name, which only this process can open. It ends with the object.
#pragma once

#include "base/command_line.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

// what() names the folder, the reason and TMPDIR. A UsageError, because the user of a program can
// set TMPDIR.
struct TemporaryFileError : UsageError {
    using UsageError::UsageError;
};

class TemporaryFile {
  public:
    // In $TMPDIR, or else in /var/tmp, which is usually on a disk; /tmp may be in memory. Throws
    // TemporaryFileError, as the other functions.
    TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile();

    void write(std::string_view bytes);
    // Fills the beginning of `to` with the bytes from `place` on. Returns their number; 0 at the
    // end of the file.
    std::size_t read(std::int64_t place, std::span<char> to) const;
    std::int64_t size() const { return size_; }
    // Removes the bytes from this one on.
    void truncate(std::int64_t size);
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_;
    std::int64_t size_ = 0;
};

}  // namespace muster
