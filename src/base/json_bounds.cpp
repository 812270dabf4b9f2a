#include "base/json_bounds.hpp"

#include <algorithm>

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

bool begins_entry(char c) {
    return c == ',' || c == '[' || c == '{';
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
