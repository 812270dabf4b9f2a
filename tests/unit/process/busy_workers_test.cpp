// process/busy_workers.hpp: few workers of a group are busy at the same time, and a long batch or a
// dead worker holds up no other.
#include "process/busy_workers.hpp"

#include "print.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

using muster::process::BusyWorkers;

namespace {

using std::chrono::microseconds;
constexpr BusyWorkers::Clock::time_point kStart{std::chrono::hours(1)};

}  // namespace

BOOST_AUTO_TEST_SUITE(busy_workers)

BOOST_AUTO_TEST_CASE(a_worker_takes_requests_while_fewer_than_the_most_are_busy) {
    BusyWorkers workers(2);
    BOOST_TEST(workers.wait_time(kStart).count() == 0);
    const auto first = workers.begin(kStart);
    BOOST_TEST(workers.wait_time(kStart).count() == 0);
    const auto second = workers.begin(kStart);
    BOOST_TEST(workers.wait_time(kStart).count() > 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_batch_lets_the_next_worker_in) {
    BusyWorkers workers(1);
    {
        const auto batch = workers.begin(kStart);
        BOOST_TEST(workers.wait_time(kStart).count() > 0);
    }
    BOOST_TEST(workers.wait_time(kStart).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_worker_at_rest_lets_the_next_one_in_at_once) {
    constexpr microseconds kMinute{60'000'000};
    sigset_t none;
    sigemptyset(&none);
    BusyWorkers workers(1);
    const pid_t child = fork();
    if (child == 0) {
        auto batch = workers.begin(kStart);
        batch.rest();
        _exit(0);
    }
    const auto began = BusyWorkers::Clock::now();
    BOOST_TEST(workers.wait(kMinute, none));  // ended by the rest, before or after this call
    BOOST_TEST((BusyWorkers::Clock::now() - began < kMinute / 2));
    waitpid(child, nullptr, 0);
    BOOST_TEST(workers.wait_time(kStart).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_worker_that_rested_frees_no_other_place) {
    BusyWorkers workers(1);
    auto first = workers.begin(kStart);
    first.rest();
    const auto second = workers.begin(kStart);
    { const auto ended = std::move(first); }
    BOOST_TEST(workers.wait_time(kStart).count() > 0);
}

BOOST_AUTO_TEST_CASE(a_worker_waits_until_the_longest_batch_counts_as_long) {
    BusyWorkers workers(1);
    const auto longest = workers.begin(kStart);
    const auto later = workers.begin(kStart + microseconds(1000));
    const auto wait = workers.wait_time(kStart + microseconds(2000));
    BOOST_TEST(wait.count() == 3000);
    // The second batch is now the one that counts.
    BOOST_TEST(workers.wait_time(kStart + microseconds(2000) + wait).count() == 1000);
    BOOST_TEST(workers.wait_time(kStart + microseconds(6000)).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_dead_worker_holds_up_the_others_only_briefly) {
    BusyWorkers workers(1);
    const pid_t child = fork();
    if (child == 0) {
        const auto batch = workers.begin(kStart);
        _exit(0);  // without the end of the batch
    }
    waitpid(child, nullptr, 0);
    BOOST_TEST(workers.wait_time(kStart).count() == microseconds(BusyWorkers::kLongBatch).count());
    BOOST_TEST(workers.wait_time(kStart + BusyWorkers::kLongBatch).count() == 0);
}

BOOST_AUTO_TEST_CASE(a_long_batch_does_not_end_the_batch_that_took_its_place) {
    BusyWorkers workers(1);
    std::optional<BusyWorkers::Batch> slow(workers.begin(kStart));
    const auto later = kStart + 2 * BusyWorkers::kLongBatch;
    const auto next = workers.begin(later);
    slow.reset();
    BOOST_TEST(workers.wait_time(later).count() > 0);
}

BOOST_AUTO_TEST_CASE(more_batches_than_places_are_not_counted_and_not_lost) {
    BusyWorkers workers(BusyWorkers::kMost);
    std::vector<BusyWorkers::Batch> batches;
    for (std::size_t i = 0; i <= BusyWorkers::kMost; ++i) batches.push_back(workers.begin(kStart));
    batches.pop_back();  // not counted: it frees no place
    BOOST_TEST(workers.wait_time(kStart).count() > 0);
    batches.clear();
    BOOST_TEST(workers.wait_time(kStart).count() == 0);
}

BOOST_AUTO_TEST_CASE(half_of_the_processors_are_for_busy_workers) {
    BOOST_TEST(muster::process::half_of_processors() ==
               std::max(1U, std::thread::hardware_concurrency() / 2));
}

BOOST_AUTO_TEST_SUITE_END()
