// rules/access/guess_budget.hpp: an exact sliding window, also for corrupt data from the database.
#include "rules/access/guess_budget.hpp"

#include "print.hpp"

#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace muster;
using rules::Budget;
using rules::SpentTimes;

namespace {

constexpr Milliseconds kHour{3600L * 1000};
constexpr Budget kThreeAnHour{3, kHour};
constexpr Timestamp kStart{1'800'000'000'000};

Timestamp after(std::int64_t milliseconds) {
    return kStart + Milliseconds(milliseconds);
}

// The seconds to wait, or 0 if the budget has room.
int seconds_left(const SpentTimes& spent, Timestamp now, Budget budget = kThreeAnHour) {
    return spent.exhausted(budget, now).value_or(0);
}

std::string packed(const std::vector<std::int64_t>& times) {
    std::string bytes;
    for (const std::int64_t time : times) {
        for (int shift = 56; shift >= 0; shift -= 8) {
            bytes += static_cast<char>(static_cast<std::uint64_t>(time) >> shift & 0xffU);
        }
    }
    return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guess_budget)

BOOST_AUTO_TEST_CASE(a_budget_has_room_until_it_is_spent) {
    SpentTimes spent;
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(seconds_left(spent, after(i)) == 0, i);
        spent.spend(after(i), kHour);
    }
    BOOST_TEST(seconds_left(spent, after(2)) == 3600);
}

BOOST_AUTO_TEST_CASE(room_returns_exactly_when_the_oldest_attempt_leaves_the_window) {
    SpentTimes spent;
    for (const int at : {0, 10'000, 20'000}) spent.spend(after(at), kHour);
    BOOST_TEST(seconds_left(spent, after(20'000)) == 3580);
    BOOST_TEST(seconds_left(spent, after(3'599'000)) == 1);
    BOOST_TEST(seconds_left(spent, after(3'599'001)) == 1);
    BOOST_TEST(seconds_left(spent, after(3'599'999)) == 1);
    BOOST_TEST(seconds_left(spent, after(3'600'000)) == 0);
    spent.spend(after(3'600'000), kHour);
    BOOST_TEST(seconds_left(spent, after(3'600'000)) == 10);
    BOOST_TEST(seconds_left(spent, after(3'610'000)) == 0);
}

BOOST_AUTO_TEST_CASE(no_window_contains_more_attempts_than_the_budget) {
    std::mt19937 random(7);
    SpentTimes spent;
    std::vector<Timestamp> taken;
    Timestamp now = kStart;
    for (int i = 0; i < 5'000; ++i) {
        now = now + Milliseconds(random() % 900'000);
        spent = SpentTimes(spent.packed());
        if (spent.exhausted(kThreeAnHour, now)) continue;
        spent.spend(now, kHour);
        if (taken.size() >= 3) BOOST_TEST(now - taken[taken.size() - 3] >= kHour);
        taken.push_back(now);
    }
    BOOST_TEST(taken.size() > 1000U);
}

BOOST_AUTO_TEST_CASE(two_budgets_share_the_same_attempts) {
    SpentTimes spent;
    spent.spend(after(0), kHour);
    BOOST_TEST(seconds_left(spent, after(30'000), {1, Milliseconds(60'000)}) == 30);
    BOOST_TEST(seconds_left(spent, after(60'000), {1, Milliseconds(60'000)}) == 0);
    BOOST_TEST(seconds_left(spent, after(60'000), {1, kHour}) == 3540);
}

BOOST_AUTO_TEST_CASE(attempts_are_packed_and_read_back) {
    SpentTimes spent;
    BOOST_TEST(spent.packed() == "");
    spent.spend(after(0), kHour);
    spent.spend(after(5), kHour);
    BOOST_TEST(spent.packed() == packed({after(0).milliseconds(), after(5).milliseconds()}));
    BOOST_TEST(SpentTimes(spent.packed()).packed() == spent.packed());
}

BOOST_AUTO_TEST_CASE(old_attempts_are_dropped_and_their_number_is_bounded) {
    SpentTimes spent;
    spent.spend(after(0), kHour);
    spent.spend(after(3'599'999), kHour);
    BOOST_TEST(spent.packed().size() == 16U);
    spent.spend(after(3'600'000), kHour);
    BOOST_TEST(spent.packed().size() == 16U);
    for (int i = 0; i < 1000; ++i) spent.spend(after(3'600'001 + i), kHour);
    BOOST_TEST(spent.packed().size() == 512U);
    BOOST_TEST(seconds_left(spent, after(3'601'000), {64, kHour}) == 3600);
}

BOOST_AUTO_TEST_CASE(invalid_bytes_count_as_no_attempts) {
    for (const std::string& bytes : {std::string("x"), std::string(7, '\xff'), std::string(9, 'x'),
                                     std::string(520, '\0'), std::string(1024, '\x01')}) {
        const SpentTimes spent(bytes);
        BOOST_TEST(spent.packed() == "");
        BOOST_TEST(seconds_left(spent, kStart) == 0);
    }
}

BOOST_AUTO_TEST_CASE(attempts_in_any_order_are_sorted_by_time) {
    const auto at = [](std::int64_t milliseconds) { return after(milliseconds).milliseconds(); };
    const SpentTimes spent(packed({at(20'000), at(0), at(10'000)}));
    BOOST_TEST(seconds_left(spent, after(20'000)) == 3580);
}

BOOST_AUTO_TEST_CASE(a_time_in_the_future_blocks_no_longer_than_the_window) {
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t tomorrow = (kStart + 24 * kHour).milliseconds();
    for (const std::int64_t time : {tomorrow, kMost, kMost - 1}) {
        SpentTimes spent(packed({time, time, time}));
        BOOST_TEST(seconds_left(spent, kStart) == 3600, time);
        spent.spend(kStart, kHour);
        BOOST_TEST(seconds_left(spent, kStart) == 3600, time);
    }
    for (const std::int64_t time : {kLeast, kLeast + 1, std::int64_t{-1}}) {
        SpentTimes spent(packed({time, time, time}));
        BOOST_TEST(seconds_left(spent, kStart) == 0, time);
        spent.spend(kStart, kHour);
        BOOST_TEST(spent.packed().size() == 8U);
    }
}

BOOST_AUTO_TEST_SUITE_END()
