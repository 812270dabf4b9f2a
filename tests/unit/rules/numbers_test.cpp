// rules/numbers.hpp: which numbers are the same.
#include "rules/numbers.hpp"

#include "print.hpp"

#include <array>
#include <string>
#include <utility>

using namespace muster::rules;

BOOST_AUTO_TEST_SUITE(numbers)

BOOST_AUTO_TEST_CASE(spellings_of_a_number_are_the_same) {
    for (const auto& [one, other] : {
             std::pair{"5", "5.0"},
             std::pair{"5e0", "5"},
             std::pair{"0", "-0.0"},
             std::pair{"-7", "-7.0"},
             std::pair{"1e16", "10000000000000000"},
             std::pair{"1e+16", "1e16"},
             std::pair{"9007199254740992.0", "9007199254740992"},
             std::pair{"1e23", "99999999999999991611392"},
             std::pair{"0.30", "0.3"},
             std::pair{"1e-13", "0.0000000000001"},
         }) {
        BOOST_TEST(is_same_number(one, other), one);
        BOOST_TEST(is_same_number(other, one), other);
    }
    const std::string large = "1" + std::string(307, '0');
    BOOST_TEST(is_same_number(large, large));
}

BOOST_AUTO_TEST_CASE(other_numbers_differ_also_in_the_last_digit) {
    for (const auto& [one, other] : {
             std::pair{"9007199254740992", "9007199254740993"},
             std::pair{"-9007199254740992", "-9007199254740993"},
             std::pair{"18446744073709551616", "18446744073709551617"},
             std::pair{"1e16", "10000000000000001"},
             std::pair{"0.3", "0.30000000000000004"},
             std::pair{"1e-13", "0"},
             std::pair{"1e-10", "1.000001e-10"},
             std::pair{"3", "3.0000000000000004"},
             std::pair{"5", "-5"},
         }) {
        BOOST_TEST(!is_same_number(one, other), one);
    }
}

BOOST_AUTO_TEST_CASE(a_text_that_is_not_a_number_is_the_same_as_none) {
    for (const char* other :
         {"", "\"5\"", "true", "null", "[5]", "inf", "-inf", "nan", "5 ", "-"}) {
        BOOST_TEST(!is_same_number("5", other), other);
        BOOST_TEST(!is_same_number(other, other), other);
    }
}

BOOST_AUTO_TEST_SUITE_END()
