// process/concurrency_limit.hpp: at most the allowed number of permits are held at once across
// processes, and a dead process's permit expires.
#include "process/concurrency_limit.hpp"

#include "print.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

using muster::process::ConcurrencyLimit;

namespace {

constexpr auto kMoment = std::chrono::milliseconds(1);
constexpr std::chrono::seconds kLongLife{120};

}  // namespace

BOOST_AUTO_TEST_SUITE(slots)

BOOST_AUTO_TEST_CASE(at_most_the_limit_is_acquired) {
    ConcurrencyLimit slots;
    std::vector<ConcurrencyLimit::Permit> held;
    for (const char* whom : {"a", "b", "c"}) held.push_back(slots.try_acquire(3, whom).value());
    BOOST_TEST(!slots.try_acquire(3, "d").has_value());
    held.pop_back();
    BOOST_TEST(slots.try_acquire(3, "d").has_value());  // and released at once
    BOOST_TEST(slots.try_acquire(3, "d").has_value());
}

BOOST_AUTO_TEST_CASE(one_target_leaves_one_permit_to_others) {
    ConcurrencyLimit slots;
    std::vector<ConcurrencyLimit::Permit> held;
    for (int i = 0; i < 2; ++i) held.push_back(slots.try_acquire(3, "hanging").value());
    BOOST_TEST(!slots.try_acquire(3, "hanging").has_value());
    {
        const auto other = slots.try_acquire(3, "other");
        BOOST_TEST(other.has_value());
    }
    const auto now = ConcurrencyLimit::Clock::now();
    BOOST_TEST(slots.try_acquire(3, "hanging", now + ConcurrencyLimit::kLife)
                   .has_value());  // the first permits have expired
    ConcurrencyLimit single;       // a single permit is available to every target
    BOOST_TEST(single.try_acquire(1, "hanging").has_value());
}

BOOST_AUTO_TEST_CASE(a_target_can_have_a_share_and_a_life_of_its_own) {
    ConcurrencyLimit slots;
    const auto now = ConcurrencyLimit::Clock::now();
    const ConcurrencyLimit::Bounds bounds{.most = 3, .most_of_target = 1, .life = kLongLife};
    const auto first = slots.try_acquire(bounds, "a", now);
    BOOST_TEST(first.has_value());
    BOOST_TEST(!slots.try_acquire(bounds, "a", now + kLongLife - kMoment).has_value());
    const auto other = slots.try_acquire(bounds, "b", now);
    BOOST_TEST(other.has_value());
    BOOST_TEST(slots.try_acquire(bounds, "a", now + kLongLife).has_value());
}

BOOST_AUTO_TEST_CASE(the_limit_has_a_lower_and_an_upper_bound) {
    ConcurrencyLimit slots;
    BOOST_TEST(!slots.try_acquire(0, "a").has_value());
    std::vector<ConcurrencyLimit::Permit> held;
    for (int i = 0; auto slot = slots.try_acquire(ConcurrencyLimit::kMost + 1, std::to_string(i));
         ++i) {
        held.push_back(std::move(*slot));
    }
    BOOST_TEST(held.size() == ConcurrencyLimit::kMost);
}

BOOST_AUTO_TEST_CASE(a_late_release_does_not_free_the_permit_of_another) {
    ConcurrencyLimit slots;
    const auto now = ConcurrencyLimit::Clock::now();
    std::optional<ConcurrencyLimit::Permit> late = slots.try_acquire(1, "a", now);
    BOOST_TEST(!slots.try_acquire(1, "a", now + ConcurrencyLimit::kLife - kMoment).has_value());
    const std::optional<ConcurrencyLimit::Permit> next =
        slots.try_acquire(1, "a", now + ConcurrencyLimit::kLife);
    BOOST_TEST_REQUIRE(next.has_value());
    late.reset();
    BOOST_TEST(!slots.try_acquire(1, "a", now + ConcurrencyLimit::kLife + kMoment).has_value());
}

BOOST_AUTO_TEST_CASE(the_permit_of_a_killed_worker_expires) {
    ConcurrencyLimit slots;
    std::array<int, 2> pipe_ends{};
    BOOST_TEST_REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    BOOST_TEST_REQUIRE(child >= 0);
    if (child == 0) {
        const auto held = slots.try_acquire(1, "a");
        const char said = held ? 'y' : 'n';
        if (write(pipe_ends[1], &said, 1) == 1) pause();
        _exit(1);
    }
    char said = 0;
    BOOST_TEST_REQUIRE(read(pipe_ends[0], &said, 1) == 1);
    BOOST_TEST(said == 'y');
    BOOST_TEST(!slots.try_acquire(1, "a").has_value());
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    BOOST_TEST(WIFSIGNALED(status));
    const auto now = ConcurrencyLimit::Clock::now();
    BOOST_TEST(!slots.try_acquire(1, "a", now).has_value());
    BOOST_TEST(slots.try_acquire(1, "a", now + ConcurrencyLimit::kLife).has_value());
    for (const int end : pipe_ends) close(end);
}

BOOST_AUTO_TEST_SUITE_END()
