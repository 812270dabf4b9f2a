// A long text that is written once and then read once: its beginning is in memory, the rest in a
// temporary file without a name. So its length costs no memory, and it is gone with the process.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace muster {

class SpooledText {
  public:
    // The file is in TMPDIR, by default /tmp. It is only created for more than `most_in_memory`
    // bytes.
    explicit SpooledText(std::size_t most_in_memory) : most_in_memory_(most_in_memory) {}

    // Throws std::system_error if the file cannot be created or written.
    void append(std::string_view piece);
    // Call it after the last append: it may write the end of the file. Throws like append.
    void finish();
    // In bytes.
    std::size_t size() const { return size_; }
    // Passes the text to `sink`, in pieces and in order, until that returns false. Throws
    // std::system_error if the file cannot be read.
    void read(const std::function<bool(std::string_view piece)>& sink);

  private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    std::size_t most_in_memory_;
    std::size_t size_ = 0;
    std::string beginning_;
    std::unique_ptr<std::FILE, Close> rest_;  // nullptr: the whole text is in memory
};

}  // namespace muster
