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

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

void ascii_lower(std::string& text) {
    for (char& c : text) c = lower(c);
}

void ascii_upper(std::string& text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

std::string_view trimmed(std::string_view text) {
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
