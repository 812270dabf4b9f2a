// process/organization_shares.hpp: an organization holds at most its share of the permits, across
// processes, and a dead process's permits become free.
#include "process/organization_shares.hpp"

#include "print.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <vector>

using muster::process::half_of;
using muster::process::OrganizationShares;
using muster::process::ShareLimit;

BOOST_AUTO_TEST_SUITE(organization_shares)

BOOST_AUTO_TEST_CASE(an_organization_holds_at_most_its_share) {
    OrganizationShares shares;
    std::vector<OrganizationShares::Permit> held;
    for (int i = 0; i < 3; ++i) held.push_back(shares.try_acquire("a", {3}).value());
    BOOST_TEST(!shares.try_acquire("a", {3}).has_value());
    BOOST_TEST(!shares.has_room("a", {3}));
    held.pop_back();
    BOOST_TEST(shares.has_room("a", {3}));
    BOOST_TEST(shares.try_acquire("a", {3}).has_value());  // and released at once
    BOOST_TEST(shares.try_acquire("a", {3}).has_value());
}

BOOST_AUTO_TEST_CASE(permits_held_for_long_do_not_count_as_young) {
    OrganizationShares shares;
    const ShareLimit limit{.most = 2, .most_young = 1};
    const auto now = OrganizationShares::Clock::now();
    const auto first = shares.try_acquire("a", limit, now);
    BOOST_TEST_REQUIRE(first.has_value());
    BOOST_TEST(!shares.has_room("a", limit, now));
    BOOST_TEST(!shares.try_acquire("a", limit, now).has_value());
    const auto later = now + OrganizationShares::kYoung;
    const auto second = shares.try_acquire("a", limit, later);
    BOOST_TEST(second.has_value());
    BOOST_TEST(!shares.has_room("a", limit, later + OrganizationShares::kYoung));  // most are held
}

BOOST_AUTO_TEST_CASE(other_organizations_have_shares_of_their_own) {
    OrganizationShares shares;
    const auto held = shares.try_acquire("a", {1});
    BOOST_TEST_REQUIRE(held.has_value());
    for (const char* other : {"b", "c", "d"})
        BOOST_TEST(shares.try_acquire(other, {1}).has_value());
}

BOOST_AUTO_TEST_CASE(permits_beyond_the_table_are_granted_and_not_counted) {
    OrganizationShares shares;
    std::vector<OrganizationShares::Permit> held;
    for (std::size_t i = 0; i < OrganizationShares::kPlaces; ++i) {
        held.push_back(shares.try_acquire("a", {OrganizationShares::kPlaces}).value());
    }
    const auto beyond = shares.try_acquire("b", {1});
    BOOST_TEST(beyond.has_value());
    BOOST_TEST(shares.has_room("b", {1}));
}

BOOST_AUTO_TEST_CASE(the_permits_of_a_killed_worker_become_free) {
    OrganizationShares shares;
    const auto own = shares.try_acquire("a", {2});
    std::array<int, 2> pipe_ends{};
    BOOST_TEST_REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    BOOST_TEST_REQUIRE(child >= 0);
    if (child == 0) {
        const auto held = shares.try_acquire("a", {2});
        const char said = held ? 'y' : 'n';
        if (write(pipe_ends[1], &said, 1) == 1) pause();
        _exit(1);
    }
    char said = 0;
    BOOST_TEST_REQUIRE(read(pipe_ends[0], &said, 1) == 1);
    BOOST_TEST(said == 'y');
    BOOST_TEST(!shares.has_room("a", {2}));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    shares.release_all_of(child);
    BOOST_TEST(shares.has_room("a", {2}));
    BOOST_TEST(!shares.has_room("a", {1}));  // this process keeps its own
    for (const int end : pipe_ends) close(end);
}

BOOST_AUTO_TEST_CASE(a_share_is_half_of_the_workers_and_at_least_one) {
    BOOST_TEST(half_of(0) == 1U);
    BOOST_TEST(half_of(1) == 1U);
    BOOST_TEST(half_of(2) == 1U);
    BOOST_TEST(half_of(3) == 1U);
    BOOST_TEST(half_of(8) == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
