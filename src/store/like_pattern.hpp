// Patterns of LIKE for what people typed.
#pragma once

#include <string>
#include <string_view>

namespace muster::store {

// "ann%", with the wildcards of `prefix` itself taken literally.
[[nodiscard]] inline std::string like_pattern(std::string_view prefix) {
    std::string pattern;
    for (const char c : prefix) {
        if (c == '\\' || c == '%' || c == '_') pattern += '\\';
        pattern += c;
    }
    return pattern + '%';
}

}  // namespace muster::store
