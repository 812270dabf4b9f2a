// process/active_organizations.hpp: whether other organizations send requests too.
#include "process/active_organizations.hpp"

#include "print.hpp"

#include <sys/wait.h>
#include <unistd.h>

using muster::process::ActiveOrganizations;

namespace {

struct Active {
    ActiveOrganizations active;
    ActiveOrganizations::Clock::time_point now = ActiveOrganizations::Clock::now();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(active_organizations, Active)

BOOST_AUTO_TEST_CASE(an_organization_alone_has_no_others) {
    BOOST_TEST(!active.has_others("a", now));
    active.note("a", now);
    BOOST_TEST(!active.has_others("a", now));
    BOOST_TEST(active.has_others("b", now));
}

BOOST_AUTO_TEST_CASE(another_one_counts_for_a_time_after_its_last_request) {
    active.note("a", now);
    active.note("b", now);
    const auto end = now + ActiveOrganizations::kActive;
    active.note("a", end);
    BOOST_TEST(active.has_others("a", end));
    BOOST_TEST(!active.has_others("a", end + std::chrono::milliseconds(1)));
    BOOST_TEST(active.has_others("b", end + std::chrono::milliseconds(1)));
}

BOOST_AUTO_TEST_CASE(of_many_organizations_each_has_others) {
    for (int i = 0; i < 50; ++i) {
        const auto time = now + std::chrono::milliseconds(i);
        active.note(std::to_string(i), time);
        if (i > 0) BOOST_TEST(active.has_others(std::to_string(i), time));
    }
}

BOOST_AUTO_TEST_CASE(other_processes_see_an_organization) {
    const pid_t child = fork();
    BOOST_TEST_REQUIRE(child >= 0);
    if (child == 0) {
        active.note("a", now);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    BOOST_TEST(active.has_others("b", now));
}

BOOST_AUTO_TEST_SUITE_END()
