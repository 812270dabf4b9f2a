// A file without a name, which only this process can open.
#pragma once

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
    void clear();
    int descriptor() const { return descriptor_; }

  private:
    [[noreturn]] static void fail(int error);

    int descriptor_;
};

}  // namespace muster::client
