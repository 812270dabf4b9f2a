// Lists of words in messages for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster {

// "a", "a or b", "a, b or c"; not for an empty list.
[[nodiscard]] std::string listed(std::span<const std::string_view> words);

}  // namespace muster
