// LIKE patterns for user input.
#pragma once

#include <string>
#include <string_view>

namespace muster::store {

// Returns "ann%"; wildcards in `prefix` are escaped.
[[nodiscard]] inline std::string like_pattern(std::string_view prefix) {
    std::string pattern;
    for (const char c : prefix) {
        if (c == '\\' || c == '%' || c == '_') pattern += '\\';
        pattern += c;
    }
    return pattern + '%';
}

}  // namespace muster::store
