// rules/webhooks/backlog.hpp: the bound of an organization, and the shares of its endpoints.
#include "rules/webhooks/backlog.hpp"

#include "print.hpp"

using muster::rules::backlog_room;

BOOST_AUTO_TEST_SUITE(webhook_backlog_room)

BOOST_AUTO_TEST_CASE(an_endpoint_has_room_up_to_the_bound_of_its_organization) {
    BOOST_TEST(backlog_room({0, 0, 1}, 100) == 100);
    BOOST_TEST(backlog_room({99, 99, 1}, 100) == 1);
    BOOST_TEST(backlog_room({100, 100, 1}, 100) == 0);
    BOOST_TEST(backlog_room({150, 101, 1}, 100) == 0);
}

BOOST_AUTO_TEST_CASE(above_the_bound_an_endpoint_has_room_up_to_its_share) {
    BOOST_TEST(backlog_room({100, 0, 2}, 100) == 50);
    BOOST_TEST(backlog_room({149, 49, 2}, 100) == 1);
    BOOST_TEST(backlog_room({150, 50, 2}, 100) == 0);
    BOOST_TEST(backlog_room({90, 10, 2}, 100) == 40);
    // A share is at least one delivery.
    BOOST_TEST(backlog_room({500, 0, 500}, 100) == 1);
    BOOST_TEST(backlog_room({500, 1, 500}, 100) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
