// base/names.hpp: one list defines the texts of an enum.
#include "base/names.hpp"

#include "print.hpp"

#include <cstdint>

namespace {

enum class Color : std::uint8_t { Red, Blue, Green };
enum class Gap : std::uint8_t { First, Third = 2 };
enum class FromOne : std::uint8_t { One = 1, Two };

}  // namespace

template <>
inline constexpr std::array muster::kNames<Color> = {muster::Name{Color::Red, "red"},
                                                     muster::Name{Color::Blue, "blue"}};
template <>
inline constexpr std::array muster::kNames<Gap> = {muster::Name{Gap::First, "first"},
                                                   muster::Name{Gap::Third, "third"}};
template <>
inline constexpr std::array muster::kNames<FromOne> = {muster::Name{FromOne::One, "one"},
                                                       muster::Name{FromOne::Two, "two"}};

static_assert(!muster::names::are_complete<Color>(), "Green has no text");
static_assert(!muster::names::are_complete<Gap>(), "a value is missing");
static_assert(muster::names::are_complete<FromOne>());
static_assert(!muster::Named<int>);

BOOST_AUTO_TEST_SUITE(enum_names)

BOOST_AUTO_TEST_CASE(a_value_and_its_text_map_to_each_other) {
    BOOST_TEST(muster::text_of(FromOne::One) == "one");
    BOOST_TEST(muster::text_of(FromOne::Two) == "two");
    BOOST_TEST((muster::parse<FromOne>("two") == FromOne::Two));
    for (const char* text : {"", "One", "on", "ones", "three"}) {
        BOOST_TEST(!muster::parse<FromOne>(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(the_texts_are_indexed_in_order) {
    BOOST_TEST(muster::name_at<FromOne>(0) == "one");
    BOOST_TEST(muster::name_at<FromOne>(1) == "two");
    BOOST_TEST(muster::name_at<FromOne>(2) == "");
}

BOOST_AUTO_TEST_SUITE_END()
