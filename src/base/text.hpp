// Text helpers that do not depend on the locale: UTF-8 validity and length, ASCII case, trimming,
// control characters, hex, base32, base64url, percent-encoding.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

[[nodiscard]] bool is_utf8(std::string_view text);
// The number of code points of valid UTF-8.
[[nodiscard]] std::size_t utf8_length(std::string_view text);
// The length in bytes of the UTF-8 character that `text` begins with; 0 if there is none.
[[nodiscard]] std::size_t character_size(std::string_view text);

// An ASCII control character, including tab and line ends.
[[nodiscard]] constexpr bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
// The length in bytes of the control character that `text` begins with; 0 if there is none. These
// are the ASCII ones, U+0080 to U+009F, and the separators of lines and paragraphs U+2028, U+2029.
[[nodiscard]] std::size_t control_size(std::string_view text);
// Whether the text has one of them.
[[nodiscard]] bool has_control(std::string_view text);

// An ASCII letter or digit.
[[nodiscard]] constexpr bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Some programs write this at the beginning of UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Change ASCII letters in place.
void ascii_lower(std::string& text);
void ascii_upper(std::string& text);
// What a person wrote, without blank ends: without Unicode's White_Space, U+200B and U+FEFF.
[[nodiscard]] std::string_view trimmed(std::string_view text);
// A part of a protocol or a file of settings, without ASCII white space (space, \t, \n, \v, \f,
// \r) at both ends.
[[nodiscard]] std::string_view trimmed_ascii(std::string_view text);
// Ignores the case of ASCII letters only.
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);

// The parts between separators, at least one. They refer to `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

[[nodiscard]] std::string to_hex(std::string_view bytes);
// Accepts digits of either case; nullopt for any other input.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view text);
// RFC 4648 section 5, without padding.
[[nodiscard]] std::string to_base64url(std::string_view bytes);
// nullopt unless the text is canonical unpadded base64url.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

// RFC 4648 section 6, upper-case, without padding.
[[nodiscard]] std::string to_base32(std::string_view bytes);

// RFC 3986 section 2.1: everything except letters, digits and -._~ becomes %XX in upper case.
// Suitable for a query and for a form.
[[nodiscard]] std::string percent_encoded(std::string_view text);

// Parses all of `text` as a decimal number within the type's range. Otherwise nullopt, also for a
// leading '+' or spaces.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// trimmed() in place.
void trim(std::string& text);

// True if valid UTF-8 has more than `characters` code points.
[[nodiscard]] bool is_longer_than(std::string_view text, std::size_t characters);

}  // namespace muster
