#include "client/encoding.hpp"

#include <algorithm>
#include <cstring>

namespace muster::client {
namespace {

bool is_letter_byte(unsigned char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

// Œ œ Ÿ Š ž in ISO-8859-15; ¼ ½ ¾ ¦ ¸ in windows-1252.
bool is_latin9_letter(unsigned char byte) {
    return byte == 0xBC || byte == 0xBD || byte == 0xBE || byte == 0xA6 || byte == 0xB8;
}

// The number of bytes of ASCII at the beginning, eight at a time.
std::size_t ascii_bytes(std::string_view bytes) {
    constexpr std::uint64_t kHighBits = 0x8080808080808080U;
    std::size_t count = 0;
    for (; bytes.size() - count >= sizeof(kHighBits); count += sizeof(kHighBits)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + count, sizeof(word));
        if ((word & kHighBits) != 0) break;
    }
    while (count < bytes.size() && static_cast<unsigned char>(bytes[count]) < 0x80) ++count;
    return count;
}

}  // namespace

std::string utf16_name(std::string_view start) {
    constexpr std::size_t kSample = 4096;
    if (start.starts_with("\xFF\xFE")) return "UTF-16LE";
    if (start.starts_with("\xFE\xFF")) return "UTF-16BE";
    start = start.substr(0, kSample);
    std::size_t zeros[2] = {0, 0};  // at even and at odd places
    for (std::size_t i = 0; i < start.size(); ++i) {
        if (start[i] == '\0') ++zeros[i % 2];
    }
    const auto [fewer, more] = std::minmax(zeros[0], zeros[1]);
    const bool is_ascii = more > start.size() / 4 && fewer <= more / 8;
    if (start.size() < 4 || !is_ascii) return "";
    return zeros[1] > zeros[0] ? "UTF-16LE" : "UTF-16BE";
}

void EncodingDetector::take_latin(unsigned char byte) {
    ++invalid_;
    has_c1_ = has_c1_ || (byte >= 0x80 && byte < 0xA0);
    has_euro_ = has_euro_ || byte == 0xA4;
}

void EncodingDetector::add_byte(unsigned char byte) {
    const bool continues = byte >= 0x80 && byte < 0xC0;
    if (expected_ > 0 && continues) {
        ++pending_;
        if (--expected_ == 0) {
            ++utf8_;
            pending_ = 0;
        }
    } else {
        invalid_ += pending_;  // a character that was cut off
        pending_ = 0;
        expected_ = 0;
        if (byte >= 0xC2 && byte < 0xF5) {
            expected_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
            pending_ = 1;
        } else if (byte >= 0x80) {
            take_latin(byte);
        }
    }
    const bool is_adjacent = (is_latin9_letter(byte) && is_letter_byte(before_)) ||
                             (is_latin9_letter(before_) && is_letter_byte(byte));
    has_letter_ = has_letter_ || is_adjacent;
    before_ = byte;
}

void EncodingDetector::add(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t plain = before_ < 0x80 ? ascii_bytes(bytes) : 0;
        if (plain > 0) before_ = static_cast<unsigned char>(bytes[plain - 1]);
        bytes.remove_prefix(plain);
        if (bytes.empty()) return;
        add_byte(static_cast<unsigned char>(bytes.front()));
        bytes.remove_prefix(1);
    }
}

std::string EncodingDetector::name() const {
    const std::uint64_t invalid = invalid_ + pending_;
    if (invalid == 0 || utf8_ > invalid) return "UTF-8";
    return !has_c1_ && (has_euro_ || has_letter_) ? "ISO-8859-15" : "windows-1252";
}

}  // namespace muster::client
