// Integers beyond 64 bits, which are legal JSON and which the parser rejects. Before parsing, each
// becomes a string with a mark: 256 random bits of this process, so that no sender can write it. A
// program that stores a value for its sender then writes the digits back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::json {

// An integer has at most this many digits, so that a double can hold it too.
inline constexpr std::size_t kMostIntegerDigits = 308;

// The text with each integer beyond 64 bits as a marked string. Tokens that are not JSON numbers
// remain, and so do integers with more than kMostIntegerDigits. nullopt if there is such a number
// where an object needs a key.
[[nodiscard]] std::optional<std::string> mark_large_numbers(std::string_view json);

// The digits of a marked string, as the parser decoded it; nullopt for any other string.
[[nodiscard]] std::optional<std::string_view> large_number(std::string_view decoded);

// The text, written by the parser, with the digits in place of each marked string.
[[nodiscard]] std::string unmarked(std::string json);

}  // namespace muster::json
