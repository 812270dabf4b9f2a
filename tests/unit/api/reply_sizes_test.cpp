// api/reply_sizes.hpp: how large the next reply to an organization may be.
#include "api/reply_sizes.hpp"

#include "print.hpp"

#include <string>

using muster::api::ReplySizes;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Sizes : ReplySizes {
    std::size_t of_acme() const { return of("acme", "getUser", now); }
    Clock::time_point now = Clock::now();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(reply_sizes, Sizes)

BOOST_AUTO_TEST_CASE(the_largest_reply_counts_half_with_each_second) {
    BOOST_TEST(of_acme() == 0U);
    note("acme", "getUser", 8000, now);
    BOOST_TEST(of_acme() == 8000U);
    now += milliseconds(1999);
    BOOST_TEST(of_acme() == 4000U);
    note("acme", "getUser", 5000, now);
    BOOST_TEST(of_acme() == 5000U);
    now += seconds(100);
    BOOST_TEST(of_acme() == 0U);
}

BOOST_AUTO_TEST_CASE(small_replies_do_not_hide_a_large_one) {
    note("acme", "getUser", 8000, now);
    for (int i = 0; i < 100; ++i) note("acme", "getUser", 100, now);
    BOOST_TEST(of_acme() == 8000U);
}

BOOST_AUTO_TEST_CASE(operations_and_organizations_are_separate) {
    note("acme", "listContent", 8000, now);
    note("umbrella", "getUser", 8000, now);
    BOOST_TEST(of_acme() == 0U);
}

BOOST_AUTO_TEST_CASE(the_memory_is_bounded) {
    note("acme", "getUser", 8000, now);
    for (std::size_t i = 0; i < kMost; ++i) note(std::to_string(i), "getUser", 100, now);
    BOOST_TEST(of_acme() == 0U);
    BOOST_TEST(of(std::to_string(kMost - 1), "getUser", now) == 100U);
}

BOOST_AUTO_TEST_SUITE_END()
