#include "base/text.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>

namespace muster {
namespace {

constexpr std::string_view kBase64url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<int, 256> kBase64urlValue = [] {
    std::array<int, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kBase64url.size(); ++i) {
        values[static_cast<unsigned char>(kBase64url[i])] = static_cast<int>(i);
    }
    return values;
}();

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// White space above ASCII that has two or three bytes, and the two invisible characters that web
// pages and the beginnings of files leave at the ends of a text.
bool is_wide_space(std::string_view character) {
    if (character.size() == 2) return character == "\u0085" || character == "\u00a0";
    constexpr std::array<std::string_view, 7> kSpaces = {"\u1680", "\u2028", "\u2029", "\u202f",
                                                         "\u205f", "\u3000", "\ufeff"};
    if (character >= "\u2000" && character <= "\u200b") return true;
    return std::ranges::find(kSpaces, character) != kSpaces.end();
}

constexpr std::size_t kShortestWide = 2;
constexpr std::size_t kLongestWide = 3;

bool is_ascii(char c) {
    return static_cast<unsigned char>(c) < 0x80;
}

// The length in bytes of the white space that `text` begins with; 0 if there is none.
std::size_t space_in_front(std::string_view text) {
    if (text.empty()) return 0;
    if (is_ascii(text.front())) return is_space(text.front()) ? 1 : 0;
    for (std::size_t size = kShortestWide; size <= std::min(kLongestWide, text.size()); ++size) {
        if (is_wide_space(text.substr(0, size))) return size;
    }
    return 0;
}

// The same for the end of `text`.
std::size_t space_at_end(std::string_view text) {
    if (text.empty()) return 0;
    if (is_ascii(text.back())) return is_space(text.back()) ? 1 : 0;
    for (std::size_t size = kShortestWide; size <= std::min(kLongestWide, text.size()); ++size) {
        if (is_wide_space(text.substr(text.size() - size))) return size;
    }
    return 0;
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

}  // namespace

bool is_utf8(std::string_view text) {
    return simdjson::validate_utf8(text.data(), text.size());
}

std::size_t utf8_length(std::string_view text) {
    const auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts));
}

std::size_t character_size(std::string_view text) {
    constexpr std::size_t kLongest = 4;
    for (std::size_t size = 1; size <= std::min(kLongest, text.size()); ++size) {
        if (is_utf8(text.substr(0, size))) return size;
    }
    return 0;
}

std::size_t control_size(std::string_view text) {
    if (text.empty()) return 0;
    if (is_control(text.front())) return 1;
    if (text.starts_with('\xc2')) {
        const auto next = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
        return next >= 0x80 && next < 0xa0 ? 2 : 0;
    }
    return text.starts_with("\u2028") || text.starts_with("\u2029") ? 3 : 0;
}

bool has_control(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        // A control character begins with itself, with C2 or with E2.
        const char c = text[at];
        const bool may_begin = is_control(c) || c == '\xc2' || c == '\xe2';
        if (may_begin && control_size(text.substr(at)) > 0) return true;
    }
    return false;
}

void ascii_lower(std::string& text) {
    for (char& c : text) c = lower(c);
}

void ascii_upper(std::string& text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

std::string_view trimmed(std::string_view text) {
    while (const std::size_t size = space_in_front(text)) text.remove_prefix(size);
    while (const std::size_t size = space_at_end(text)) text.remove_suffix(size);
    return text;
}

std::string_view trimmed_ascii(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xfU];
    }
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef0123456789ABCDEF";
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const std::size_t high = kDigits.find(text[i]);
        const std::size_t low = kDigits.find(text[i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        bytes += static_cast<char>((high % 16) << 4U | low % 16);
    }
    return bytes;
}

std::string to_base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 6;) {
            count -= 6;
            text += kBase64url[bits >> static_cast<unsigned>(count) & 0x3fU];
        }
    }
    if (count > 0) text += kBase64url[bits << static_cast<unsigned>(6 - count) & 0x3fU];
    return text;
}

std::string to_base32(std::string_view bytes) {
    constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : bytes) {
        bits = bits << 8U | static_cast<unsigned char>(c);
        for (count += 8; count >= 5;) {
            count -= 5;
            text += kBase32[bits >> static_cast<unsigned>(count) & 0x1fU];
        }
    }
    if (count > 0) text += kBase32[bits << static_cast<unsigned>(5 - count) & 0x1fU];
    return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const int value = kBase64urlValue[static_cast<unsigned char>(c)];
        if (value < 0) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
        }
    }
    // Left-over bits must be fewer than one character's and zero. Otherwise two texts would decode
    // to the same bytes.
    const bool canonical = count < 6 && (bits & ((1U << static_cast<unsigned>(count)) - 1U)) == 0;
    if (!canonical) return std::nullopt;
    return bytes;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string encoded;
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded += c;
        } else {
            std::string hex = to_hex({&c, 1});
            ascii_upper(hex);
            encoded.append("%").append(hex);
        }
    }
    return encoded;
}

void trim(std::string& text) {
    const std::string_view kept = trimmed(text);
    if (kept.size() == text.size()) return;
    const auto front = static_cast<std::size_t>(kept.data() - text.data());
    text.erase(front + kept.size());
    text.erase(0, front);
}

bool is_longer_than(std::string_view text, std::size_t characters) {
    return text.size() > characters && utf8_length(text) > characters;
}

}  // namespace muster
