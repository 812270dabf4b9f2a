// Lists of words in messages for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster {

// "a", "a or b", "a, b or c". `words` must not be empty.
[[nodiscard]] std::string listed(std::span<const std::string_view> words);

// The known word that `word` probably is a misspelling of; nullopt when all differ too much.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view word,
                                                      std::span<const std::string_view> known);

}  // namespace muster
