// api/reply_sizes.hpp: how large the next reply to an organization may be.
#include "api/reply_sizes.hpp"

#include "print.hpp"

#include <string>

using muster::api::ReplySizes;

BOOST_AUTO_TEST_SUITE(reply_sizes)

BOOST_AUTO_TEST_CASE(the_largest_reply_counts_at_once_and_fades) {
    ReplySizes sizes;
    BOOST_TEST(sizes.of("acme") == 0U);
    sizes.note("acme", 100);
    sizes.note("acme", 8000);
    BOOST_TEST(sizes.of("acme") == 8000U);
    sizes.note("acme", 100);
    BOOST_TEST(sizes.of("acme") == 7000U);
    for (int i = 0; i < 100; ++i) sizes.note("acme", 100);
    BOOST_TEST(sizes.of("acme") == 100U);
    BOOST_TEST(sizes.of("umbrella") == 0U);
}

BOOST_AUTO_TEST_CASE(the_memory_is_bounded) {
    ReplySizes sizes;
    sizes.note("first", 100);
    for (std::size_t i = 0; i < ReplySizes::kMost; ++i) sizes.note(std::to_string(i), 100);
    BOOST_TEST(sizes.of("first") == 0U);
    BOOST_TEST(sizes.of(std::to_string(ReplySizes::kMost - 1)) == 100U);
}

BOOST_AUTO_TEST_SUITE_END()
