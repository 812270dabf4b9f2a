// Lists that are stored in one column as words separated by spaces.
#pragma once

#include "base/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

[[nodiscard]] inline std::vector<std::string> words_of(const std::string& text) {
    const auto words = split(text, ' ');
    return {words.begin(), words.end()};
}

[[nodiscard]] inline std::string joined_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

}  // namespace muster::store
