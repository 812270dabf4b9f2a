// api/read_sizes.hpp: how much the next request of an organization may read.
#include "api/read_sizes.hpp"

#include "print.hpp"

#include <string>

using muster::api::ReadSizes;

namespace {

struct Sizes : ReadSizes {
    std::size_t of_acme() const { return of("acme", "getUser", now); }
    Clock::time_point now = Clock::now();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(read_sizes, Sizes)

BOOST_AUTO_TEST_CASE(the_largest_one_counts_half_after_each_half_life) {
    BOOST_TEST(of_acme() == 0U);
    note("acme", "getUser", 800'000, now);
    BOOST_TEST(of_acme() == 800'000U);
    now += 2 * kHalfLife - std::chrono::milliseconds(1);
    BOOST_TEST(of_acme() == 400'000U);
    note("acme", "getUser", 500'000, now);
    BOOST_TEST(of_acme() == 500'000U);
    now += 100 * kHalfLife;
    BOOST_TEST(of_acme() == 0U);
}

BOOST_AUTO_TEST_CASE(small_ones_do_not_hide_a_large_one) {
    note("acme", "getUser", 800'000, now);
    for (int i = 0; i < 100; ++i) note("acme", "getUser", kLeast, now);
    BOOST_TEST(of_acme() == 800'000U);
}

BOOST_AUTO_TEST_CASE(usual_sizes_are_not_kept) {
    note("acme", "getUser", kLeast - 1, now);
    BOOST_TEST(of_acme() == 0U);
}

BOOST_AUTO_TEST_CASE(operations_and_organizations_are_separate) {
    note("acme", "listContent", 800'000, now);
    note("umbrella", "getUser", 800'000, now);
    BOOST_TEST(of_acme() == 0U);
}

BOOST_AUTO_TEST_CASE(the_memory_is_bounded) {
    note("acme", "getUser", 800'000, now);
    for (std::size_t i = 0; i < kMost; ++i) note(std::to_string(i), "getUser", kLeast, now);
    BOOST_TEST(of_acme() == 0U);
    BOOST_TEST(of(std::to_string(kMost - 1), "getUser", now) == kLeast);
}

BOOST_AUTO_TEST_SUITE_END()
