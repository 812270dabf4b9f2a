#include "rules/numbers.hpp"

#include "base/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace muster::rules {
namespace {

constexpr std::size_t kMostDigits = 309;  // of a double

bool is_integer_text(std::string_view json) {
    return json.find_first_not_of("-0123456789") == std::string_view::npos;
}

// The digits of the integer that the number stands for; "" if it has a fraction.
std::string digits_of(std::string_view json, double number) {
    if (number == 0) return "0";  // also -0
    if (is_integer_text(json)) return std::string(json);
    if (number != std::trunc(number)) return "";
    std::array<char, 1 + kMostDigits> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed, 0);
    return {digits.data(), end.ptr};
}

}  // namespace

bool is_number_text(std::string_view json) {
    return !json.empty() && (json[0] == '-' || (json[0] >= '0' && json[0] <= '9'));
}

bool is_same_number(std::string_view one, std::string_view other) {
    const auto left = parse_number<double>(one);
    const auto right = parse_number<double>(other);
    if (!left || !right || !std::isfinite(*left) || !std::isfinite(*right)) return false;
    const std::string digits = digits_of(one, *left);
    return digits == digits_of(other, *right) && (!digits.empty() || *left == *right);
}

}  // namespace muster::rules
