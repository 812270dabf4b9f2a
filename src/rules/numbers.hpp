// Comparing numbers of JSON exactly.
#pragma once

#include <string_view>

namespace muster::rules {

// Whether the JSON text is that of a number.
[[nodiscard]] bool is_number_text(std::string_view json);

// Whether two numbers, as JSON has them, have the same value: 5 is 5.0, and 1e16 is
// 10000000000000000. Integers are compared by all their digits, other numbers as doubles: 1e23 is
// the nearest double, 99999999999999991611392. False if one is not a number.
[[nodiscard]] bool is_same_number(std::string_view one, std::string_view other);

}  // namespace muster::rules
