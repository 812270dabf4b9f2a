// Text helpers without a locale: UTF-8 validity and length, ASCII case and trimming, hex,
// base64url.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

[[nodiscard]] bool is_utf8(std::string_view text);
// Code points of valid UTF-8.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// An ASCII control character; white space other than the space is one.
[[nodiscard]] constexpr bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
[[nodiscard]] bool has_control(std::string_view text);

void ascii_lower(std::string& text);
void ascii_upper(std::string& text);
// Without ASCII white space (space, \t, \n, \v, \f, \r) at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

[[nodiscard]] std::string to_hex(std::string_view bytes);
// Digits of either case; nullopt for anything else.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view text);
// Without padding, RFC 4648 section 5.
[[nodiscard]] std::string to_base64url(std::string_view bytes);
// nullopt for anything but canonical unpadded base64url.
[[nodiscard]] std::optional<std::string> from_base64url(std::string_view text);

// RFC 4648 section 6, upper-case, without padding.
[[nodiscard]] std::string to_base32(std::string_view bytes);

// RFC 3986 section 2.1: all but letters, digits and -._~ as %XX, upper-case. Right in a query and
// in a form.
[[nodiscard]] std::string percent_encoded(std::string_view text);

// The whole of `text` as a decimal number within the type's range, or nullopt (no sign '+', no
// spaces).
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// Removes white space (ASCII) at both ends.
void trim(std::string& text);

// Whether valid UTF-8 has more than `characters` code points.
[[nodiscard]] bool is_longer_than(std::string_view text, std::size_t characters);

}  // namespace muster
