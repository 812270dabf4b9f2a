#include "client/column_key.hpp"

#include "base/text.hpp"

#include <cstdint>
#include <vector>

namespace muster::client {
namespace {

// U+00C0 to U+017F, one word for each letter; - for the two signs among them.
constexpr std::string_view kLatinLetters =
    "a a a a ae a ae c e e e e i i i i d n o o o o oe - o u u u ue y th ss "
    "a a a a ae a ae c e e e e i i i i d n o o o o oe - o u u u ue y th y "
    "a a a a a a c c c c c c c c d d d d e e e e e e e e e e g g g g g g g g h h h h "
    "i i i i i i i i i i ij ij j j k k k l l l l l l l l l l n n n n n n n n n "
    "o o o o o o oe oe r r r r r r s s s s s s s s t t t t t t u u u u u u u u u u u u "
    "w w y y y z z z z z z s";
constexpr std::uint32_t kFirstLatin = 0xC0;

const std::vector<std::string_view>& latin_letters() {
    static const std::vector<std::string_view> kLetters = split(kLatinLetters, ' ');
    return kLetters;
}

// Appends the plain form of the character at the start of `rest`, which begins with a byte beyond
// ASCII, and removes the character.
void append_folded(std::string& key, std::string_view& rest) {
    const auto lead = static_cast<unsigned char>(rest[0]);
    const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (rest.size() < bytes) {  // not UTF-8
        key += rest;
        rest = {};
        return;
    }
    const std::string_view character = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    if (character == "\xCC\x88") {  // the umlaut as macOS writes it, after its letter
        key += 'e';
        return;
    }
    const std::uint32_t code =
        bytes == 2 ? ((lead & 0x1FU) << 6U) | (static_cast<unsigned char>(character[1]) & 0x3FU)
                   : 0U;
    const bool is_sign = (code >= 0x80 && code < kFirstLatin) || character.starts_with("\xE2\x80");
    const bool is_mark = code >= 0x300 && code < 0x370;
    if (is_sign || is_mark) return;
    if (code < kFirstLatin || code >= kFirstLatin + latin_letters().size()) {
        key += character;
        return;
    }
    const std::string_view plain = latin_letters()[code - kFirstLatin];
    if (plain != "-") key += plain;
}

}  // namespace

std::string column_key(std::string_view name) {
    std::string key;
    while (!name.empty()) {
        const char c = name.front();
        if (static_cast<unsigned char>(c) >= 0x80) {
            append_folded(key, name);
            continue;
        }
        name.remove_prefix(1);
        if (c >= 'A' && c <= 'Z') key += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
    }
    return key;
}

}  // namespace muster::client
