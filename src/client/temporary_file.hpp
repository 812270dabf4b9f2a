// A file without a name, which only this process can open.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::client {

class TemporaryFile {
  public:
    // In $TMPDIR, or else in /tmp. Throws UsageError, as the other functions.
    TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile();

    void write(std::string_view bytes);
    std::int64_t size() const { return size_; }
    // Removes the bytes from this one on.
    void truncate(std::int64_t size);
    int descriptor() const { return descriptor_; }

  private:
    [[noreturn]] static void fail(int error);

    int descriptor_;
    std::int64_t size_ = 0;
};

}  // namespace muster::client
