// A long text that is written once and then read: its beginning is in memory, the rest in a
// temporary file. So a longer text needs no more memory.
#pragma once

#include "base/temporary_file.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

class SpooledText {
  public:
    // At most `most_in_memory` bytes are in memory. The piece that exceeds them begins the file.
    explicit SpooledText(std::size_t most_in_memory) : most_in_memory_(most_in_memory) {}

    // Throws TemporaryFileError, as the other functions.
    void append(std::string_view piece);
    // Writes the end of the file. Call it between the last append and read.
    void finish();
    // In bytes.
    std::size_t size() const { return size_; }
    // Passes the text to `sink`, in pieces and in order, until that returns false.
    void read(const std::function<bool(std::string_view piece)>& sink) const;

  private:
    std::size_t most_in_memory_;
    std::size_t size_ = 0;
    std::string beginning_;
    std::optional<TemporaryFile> rest_;  // std::nullopt: the whole text is in memory
    std::string unwritten_;              // the end of the rest
};

}  // namespace muster
