// process/concurrency_limit.hpp: no more than were allowed hold a slot at once, in however many
// processes, and a dead one's is free again.
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

}  // namespace

BOOST_AUTO_TEST_SUITE(slots)

BOOST_AUTO_TEST_CASE(so_many_are_taken_and_no_more) {
    ConcurrencyLimit slots;
    std::vector<ConcurrencyLimit::Permit> held;
    for (const char* whom : {"a", "b", "c"}) held.push_back(slots.try_acquire(3, whom).value());
    BOOST_TEST(!slots.try_acquire(3, "d").has_value());
    held.pop_back();
    BOOST_TEST(slots.try_acquire(3, "d").has_value());  // and given back at once
    BOOST_TEST(slots.try_acquire(3, "d").has_value());
}

BOOST_AUTO_TEST_CASE(whoever_waits_for_the_same_leaves_one_to_others) {
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
                   .has_value());  // these have died
    ConcurrencyLimit single;       // where there is but one, it is anybody's
    BOOST_TEST(single.try_acquire(1, "hanging").has_value());
}

BOOST_AUTO_TEST_CASE(there_is_an_end_to_what_can_be_asked_for) {
    ConcurrencyLimit slots;
    BOOST_TEST(!slots.try_acquire(0, "a").has_value());
    std::vector<ConcurrencyLimit::Permit> held;
    for (int i = 0; auto slot = slots.try_acquire(ConcurrencyLimit::kMost + 1, std::to_string(i));
         ++i) {
        held.push_back(std::move(*slot));
    }
    BOOST_TEST(held.size() == ConcurrencyLimit::kMost);
}

BOOST_AUTO_TEST_CASE(whoever_comes_back_too_late_frees_nobody_else_s) {
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

BOOST_AUTO_TEST_CASE(a_killed_worker_s_slot_is_free_again_after_its_time) {
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
