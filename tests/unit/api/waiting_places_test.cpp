// api/waiting_places.hpp: a place is counted as long as a copy of it exists.
#include "api/waiting_places.hpp"

#include "print.hpp"

#include <optional>
#include <vector>

using muster::api::WaitingPlaces;

BOOST_AUTO_TEST_SUITE(waiting_places)

BOOST_AUTO_TEST_CASE(places_are_counted_by_organization_until_their_last_copy_is_destroyed) {
    WaitingPlaces places;
    std::vector<WaitingPlaces::Place> held = {places.take("a"), places.take("b"), places.take("a")};
    BOOST_TEST(places.of("a") == 2U);
    BOOST_TEST(places.of("b") == 1U);
    BOOST_TEST(places.of("c") == 0U);
    BOOST_TEST(places.of_all() == 3U);
    auto copy = held.front();
    held.clear();
    BOOST_TEST(places.of("a") == 1U);
    BOOST_TEST(places.of_all() == 1U);
    copy.reset();
    BOOST_TEST(places.of_all() == 0U);
}

BOOST_AUTO_TEST_CASE(a_place_may_outlive_the_places) {
    std::optional<WaitingPlaces> places(std::in_place);
    const auto place = places->take("a");
    places.reset();
    BOOST_TEST(place.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
