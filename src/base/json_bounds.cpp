#include "base/json_bounds.hpp"

#include <algorithm>
#include <cstdint>

namespace muster {
namespace {

// The position behind the string that begins at `quote`.
std::size_t behind_string(std::string_view json, std::size_t quote) {
    for (auto at = json.find('"', quote + 1); at != std::string_view::npos;
         at = json.find('"', at + 1)) {
        std::size_t backslashes = 0;
        while (json[at - 1 - backslashes] == '\\') ++backslashes;
        if (backslashes % 2 == 0) return at + 1;
    }
    return json.size();
}

// Without branches, for vector instructions.
constexpr bool begins_entry(char c) {
    return ((c == ',') | (c == '[') | (c == '{')) != 0;
}

bool is_digit_or_point(char c) {
    return (c >= '0' && c <= '9') || c == '.';
}

// Whether the text has more than kMostLongNumbers runs of kShortInteger or more digits and points.
// A run has at most one long number. Looks at one character of each kShortInteger: every such run
// has one of these.
bool may_have_many_long_numbers(std::string_view json) {
    std::size_t found = 0;
    for (std::size_t at = kShortInteger - 1; at < json.size(); at += kShortInteger) {
        if (!is_digit_or_point(json[at])) continue;
        std::size_t begin = at;
        while (begin > 0 && is_digit_or_point(json[begin - 1])) --begin;
        while (at < json.size() && is_digit_or_point(json[at])) ++at;
        if (at - begin >= kShortInteger && ++found > kMostLongNumbers) return true;
    }
    return false;
}

// The compiler makes vector instructions of the inner loop.
bool may_have_many_entries(std::string_view json) {
    constexpr std::size_t kBlock = 128;
    if (json.size() <= kMostJsonEntries) return false;
    std::size_t found = 0;
    for (; json.size() >= kBlock; json.remove_prefix(kBlock)) {
        std::uint8_t in_block = 0;
        for (std::size_t i = 0; i < kBlock; ++i) {
            in_block += static_cast<std::uint8_t>(begins_entry(json[i]));
        }
        found += in_block;
    }
    return found + json.size() > kMostJsonEntries;
}

// `part` has no strings.
void count_in(std::string_view part, JsonParts& to) {
    std::size_t digits = 0;
    std::size_t minus = 0;
    for (const char c : part) {
        if (c >= '0' && c <= '9') {
            if (++digits + minus == kShortInteger + 1) ++to.long_numbers;
        } else if (c != '.') {
            digits = 0;
            minus = c == '-' ? 1 : 0;
            if (begins_entry(c)) ++to.entries;
        } else if (digits + minus <= kShortInteger) {
            minus = 0;  // not an integer
        }
    }
}

}  // namespace

bool may_exceed_json_bounds(std::string_view json) {
    return may_have_many_long_numbers(json) || may_have_many_entries(json);
}

JsonParts count_json_parts(std::string_view json) {
    JsonParts parts;
    for (std::size_t at = 0; at < json.size();) {
        const std::size_t quote = std::min(json.find('"', at), json.size());
        count_in(json.substr(at, quote - at), parts);
        at = behind_string(json, quote);
    }
    return parts;
}

}  // namespace muster
