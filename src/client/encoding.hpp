// The encoding of a text file, found from its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::client {

// UTF-16 with or without a byte order mark, from the first bytes of a file; "" for another
// encoding.
[[nodiscard]] std::string utf16_name(std::string_view start);

// Distinguishes UTF-8, windows-1252 and ISO-8859-15. Takes the bytes of a file in parts of any
// size.
class EncodingDetector {
  public:
    void add(std::string_view bytes);
    // A name for iconv_open(3). UTF-8 also for a file of which most characters beyond ASCII are
    // UTF-8: its other bytes are faults of their cells.
    [[nodiscard]] std::string name() const;

  private:
    void add_byte(unsigned char byte);
    void take_latin(unsigned char byte);

    std::uint64_t utf8_ = 0;     // characters of more than one byte
    std::uint64_t invalid_ = 0;  // bytes that are not UTF-8
    bool has_c1_ = false;        // 0x80 to 0x9F, which ISO-8859-15 does not have
    bool has_euro_ = false;      // 0xA4: the sign for "currency" in windows-1252
    bool has_letter_ = false;    // a letter of ISO-8859-15 next to a letter
    unsigned expected_ = 0;      // continuation bytes of the current character
    std::uint64_t pending_ = 0;  // its bytes so far
    unsigned char before_ = 0;
};

}  // namespace muster::client
