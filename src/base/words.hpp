// Lists of words in messages for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster {

// "a", "a or b", "a, b or c". `words` must not be empty.
[[nodiscard]] std::string listed(std::span<const std::string_view> words);

}  // namespace muster
