#include "json/large_number.hpp"

#include "base/crypto.hpp"
#include "base/json_bounds.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace muster::json {
namespace {

// Few strings begin with this character, so most comparisons end with it.
constexpr char kMarkBegins = '\x7f';

const std::string& mark() {
    static const std::string kMark = kMarkBegins + create_random_text().reveal();
    return kMark;
}

bool is_marked(std::string_view text) {
    return text.starts_with(kMarkBegins) &&
           equal_in_constant_time(text.substr(0, mark().size()), mark());
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

template <class Integer>
bool fits(std::string_view digits) {
    Integer value{};
    return std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{};
}

bool is_large_integer(std::string_view token) {
    if (token.size() <= kShortInteger) return false;
    const bool is_negative = token.starts_with('-');
    const std::string_view digits = token.substr(is_negative ? 1 : 0);
    if (digits.size() > kMostIntegerDigits || digits[0] == '0') return false;
    if (!std::all_of(digits.begin(), digits.end(), is_digit)) return false;
    return is_negative ? !fits<std::int64_t>(token) : !fits<std::uint64_t>(digits);
}

// The string that begins at `at`, with its quotes.
std::string_view string_at(std::string_view json, std::size_t at) {
    std::size_t end = at + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    return json.substr(at, end + 1 - at);
}

bool is_key(std::string_view rest) {
    const std::size_t next = rest.find_first_not_of(" \t\n\r");
    return next != std::string_view::npos && rest[next] == ':';
}

}  // namespace

std::optional<std::string> mark_large_numbers(std::string_view json) {
    std::string marked;
    marked.reserve(json.size() + json.size() / 4);
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        if (c == '"') {
            const std::string_view string = string_at(json, at);
            marked += string;
            at += string.size();
        } else if (c == '-' || is_digit(c)) {
            const std::size_t end = json.find_first_not_of("+-.0123456789eE", at);
            const std::string_view token = json.substr(at, end - at);
            at += token.size();
            if (!is_large_integer(token)) {
                marked += token;
            } else if (is_key(json.substr(at))) {
                return std::nullopt;
            } else {
                marked.append("\"").append(mark()).append(token).append("\"");
            }
        } else {
            marked += c;
            ++at;
        }
    }
    return marked;
}

std::optional<std::string_view> large_number(std::string_view decoded) {
    if (!is_marked(decoded)) return std::nullopt;
    return decoded.substr(mark().size());
}

std::string unmarked(std::string json) {
    // The writer escapes quotes, so a quote before the mark begins a string.
    constexpr std::string_view kBegin("\"\x7f");
    static_assert(kBegin.back() == kMarkBegins);
    const std::string_view text = json;
    std::size_t found = text.find(kBegin);
    if (found == std::string_view::npos) return json;
    std::string plain;
    plain.reserve(json.size());
    std::size_t at = 0;
    for (; found != std::string_view::npos; found = text.find(kBegin, at)) {
        plain += text.substr(at, found - at);
        const std::string_view string = string_at(text, found);
        const auto token = large_number(string.substr(1, string.size() - 2));
        plain += token ? *token : string;
        at = found + string.size();
    }
    return plain += text.substr(at);
}

}  // namespace muster::json
