// process/rate_limiter.hpp: exactly the limit passes, for any number of callers and processes and
// with a full table.
#include "process/rate_limiter.hpp"

#include "print.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <set>
#include <string>
#include <vector>

using muster::process::per_minute;
using muster::process::RateLimit;
using muster::process::RateLimiter;
using muster::process::RateResult;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// Keys of a test that may collide in all bits that the table keeps: 16 in a small table.
constexpr int kChance = 5;

// A limiter with a clock that the test controls.
struct LimiterFixture {
    explicit LimiterFixture(std::size_t slots = RateLimiter::kSlots) : limiter(slots) {}

    RateResult take(const std::string& key, const RateLimit& limit) {
        return limiter.take(key, limit, now);
    }
    // How many requests pass until one is refused.
    std::int64_t drain(const std::string& key, const RateLimit& limit) {
        std::int64_t passed = 0;
        while (take(key, limit).allowed) ++passed;
        return passed;
    }

    RateLimiter limiter;
    RateLimiter::Clock::time_point now = RateLimiter::Clock::now();
};

// A counter shared by the child processes of a test.
struct Tally {
    std::atomic<std::int64_t> tick{0};
    std::array<std::atomic<std::int64_t>, 256> passed{};
};

class SharedTally {
  public:
    SharedTally()
        : memory_(mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
        BOOST_TEST_REQUIRE(memory_ != MAP_FAILED);
        tally_ = new (memory_) Tally;
    }
    ~SharedTally() { munmap(memory_, sizeof(Tally)); }
    SharedTally(const SharedTally&) = delete;
    SharedTally& operator=(const SharedTally&) = delete;
    Tally* operator->() { return tally_; }

  private:
    void* memory_;
    Tally* tally_;
};

// Runs work() in that many processes at once and expects all to succeed.
template <class Work>
void in_children(int count, const Work& work) {
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            work();
            _exit(0);
        }
        BOOST_TEST_REQUIRE(child > 0);
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        BOOST_TEST(waitpid(child, &status, 0) == child);
        BOOST_TEST(status == 0);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rate_limiter)

// ---------------------------------------------------------------------------- one bucket

BOOST_AUTO_TEST_CASE(a_burst_passes_and_then_the_rate) {
    LimiterFixture fixture;
    const RateLimit limit{10, 5};
    for (std::int64_t left = 4; left >= 0; --left) {
        const RateResult verdict = fixture.take("k", limit);
        BOOST_TEST(verdict.allowed);
        BOOST_TEST(verdict.remaining == left);
        BOOST_TEST(verdict.reset_seconds == 1);
        BOOST_TEST(verdict.retry_after == 0);
    }
    const RateResult refused = fixture.take("k", limit);
    BOOST_TEST(!refused.allowed);
    BOOST_TEST(refused.remaining == 0);
    BOOST_TEST(refused.reset_seconds == 1);
    BOOST_TEST(refused.retry_after == 1);
    fixture.now += milliseconds(99);
    BOOST_TEST(!fixture.take("k", limit).allowed);
    fixture.now += milliseconds(2);
    BOOST_TEST(fixture.drain("k", limit) == 1);
    fixture.now += seconds(60);
    BOOST_TEST(fixture.drain("k", limit) == 5);
}

BOOST_AUTO_TEST_CASE(a_refused_request_costs_nothing) {
    LimiterFixture fixture;
    const RateLimit limit{1, 2};
    BOOST_TEST(fixture.drain("k", limit) == 2);
    for (int i = 0; i < 1000; ++i) BOOST_TEST(!fixture.take("k", limit).allowed);
    fixture.now += microseconds(1'000'001);
    BOOST_TEST(fixture.drain("k", limit) == 1);
}

BOOST_AUTO_TEST_CASE(a_client_that_waits_the_reported_time_passes) {
    for (const RateLimit& limit :
         {RateLimit{1, 1}, RateLimit{7, 3}, RateLimit{100'000, 1}, per_minute(1), per_minute(10),
          per_minute(7), RateLimit{3, 100}}) {
        LimiterFixture fixture;
        fixture.drain("k", limit);
        const RateResult refused = fixture.take("k", limit);
        BOOST_TEST(refused.retry_after >= 1);
        fixture.now += seconds(refused.retry_after);
        BOOST_TEST(fixture.take("k", limit).allowed);
        fixture.drain("k", limit);
        fixture.now += seconds(fixture.take("k", limit).reset_seconds);
        BOOST_TEST(fixture.drain("k", limit) == limit.burst);
    }
}

BOOST_AUTO_TEST_CASE(the_long_term_rate_is_exact) {
    // A burst of two, so that no token is lost between two checks.
    for (const RateLimit& limit :
         {RateLimit{1, 2}, RateLimit{3, 2}, RateLimit{7, 7}, RateLimit{999, 10},
          RateLimit{70'000, 50}, RateLimit{99'999, 100}, RateLimit{100'000, 2}, per_minute(7)}) {
        LimiterFixture fixture;
        const auto began = fixture.now;
        const std::int64_t token = limit.seconds * 1'000'000 / limit.per_second;
        const microseconds step{std::max<std::int64_t>(1, token / 3)};
        std::int64_t passed = fixture.drain("k", limit);
        BOOST_TEST(passed == limit.burst);
        for (int i = 0; i < 60'000; ++i) {
            fixture.now += step;
            passed += fixture.drain("k", limit);
        }
        const auto spent = std::chrono::duration_cast<microseconds>(fixture.now - began).count();
        const std::int64_t grown = spent * limit.per_second / (limit.seconds * 1'000'000);
        BOOST_TEST(passed >= limit.burst + grown - 1, limit.per_second);
        BOOST_TEST(passed <= limit.burst + grown + 1, limit.per_second);
    }
}

BOOST_AUTO_TEST_CASE(the_largest_limits_hold) {
    LimiterFixture fixture;
    BOOST_TEST(fixture.drain("fast", {100'000, 100'000}) == 100'000);
    BOOST_TEST(fixture.take("fast", {100'000, 100'000}).reset_seconds == 1);
    BOOST_TEST(fixture.drain("slow", {1, 100'000}) == 100'000);
    const RateResult refused = fixture.take("slow", {1, 100'000});
    BOOST_TEST(refused.retry_after == 1);
    BOOST_TEST(refused.reset_seconds == 100'000);
    BOOST_TEST(fixture.drain("minute", {1, 100'000, 60}) == 100'000);
    BOOST_TEST(fixture.take("minute", {1, 100'000, 60}).reset_seconds == 6'000'000);
}

BOOST_AUTO_TEST_CASE(an_invalid_limit_becomes_the_nearest_valid_one) {
    LimiterFixture fixture;
    BOOST_TEST(fixture.drain("none", {0, 0, 0}) == 1);
    BOOST_TEST(fixture.drain("negative", {-5, -5, -5}) == 1);
    BOOST_TEST(fixture.drain("huge", {1, std::int64_t{1} << 62, std::int64_t{1} << 62}) == 100'000);
}

BOOST_AUTO_TEST_CASE(a_reservation_may_exceed_the_bucket_and_later_ones_wait_for_what_is_missing) {
    LimiterFixture fixture;
    const auto reserve = [&](std::int64_t count, milliseconds longest_wait) {
        return fixture.limiter.reserve("k", {10, 10}, count, longest_wait, fixture.now);
    };
    BOOST_TEST(reserve(6, milliseconds(0)).remaining == 4);
    const RateResult large = reserve(40, milliseconds(0));  // 36 more than are left
    BOOST_TEST(large.allowed);
    BOOST_TEST(large.remaining == 0);
    BOOST_TEST(large.wait == microseconds(0));
    const RateResult refused = reserve(1, milliseconds(3699));
    BOOST_TEST(!refused.allowed);
    BOOST_TEST(refused.wait == milliseconds(3700));
    BOOST_TEST(refused.retry_after == 4);
    const RateResult reserved = reserve(5, milliseconds(3700));
    BOOST_TEST(reserved.allowed);
    BOOST_TEST(reserved.retry_after == 0);
    BOOST_TEST(reserved.wait == milliseconds(3700));
    // It has the order of the calls: nothing passes what waits, and each waits for all before it.
    fixture.now += milliseconds(3700);
    BOOST_TEST(!reserve(1, milliseconds(0)).allowed);
    BOOST_TEST(reserve(1, milliseconds(500)).wait == milliseconds(500));
    fixture.now += milliseconds(599);
    BOOST_TEST(!reserve(1, milliseconds(0)).allowed);
    fixture.now += milliseconds(1);
    BOOST_TEST(reserve(1, milliseconds(0)).allowed);
}

BOOST_AUTO_TEST_CASE(a_count_below_1_charges_one_token_and_a_huge_count_the_largest_rate) {
    LimiterFixture fixture;
    const RateLimit limit{100'000, 100'000};
    const auto charge = [&](std::int64_t count) {
        return fixture.limiter.reserve("k", limit, count, seconds(-1), fixture.now).remaining;
    };
    BOOST_TEST(charge(0) == 99'999);
    BOOST_TEST(charge(-3) == 99'998);
    BOOST_TEST(charge(std::int64_t{1} << 62) == 0);  // 100,000: two more than were left
    fixture.now += seconds(1);
    BOOST_TEST(charge(1) == 99'997);
}

BOOST_AUTO_TEST_CASE(a_changed_limit_applies_to_the_next_request) {
    LimiterFixture fixture;
    BOOST_TEST(fixture.drain("k", {1, 5}) == 5);
    BOOST_TEST(fixture.drain("k", {1, 8}) == 3);
    BOOST_TEST(fixture.drain("k", {1, 2}) == 0);
    fixture.now += seconds(7);
    BOOST_TEST(fixture.drain("k", {1, 2}) == 1);
}

BOOST_AUTO_TEST_CASE(a_time_before_the_creation_of_the_limiter_is_clamped) {
    LimiterFixture fixture;
    fixture.now -= seconds(100);
    BOOST_TEST(fixture.drain("k", {1, 3}) == 3);
}

// ---------------------------------------------------------------------------- many buckets

BOOST_AUTO_TEST_CASE(each_key_has_its_own_bucket) {
    LimiterFixture fixture;
    int sharing = 0;
    for (int i = 0; i < 2000; ++i) sharing += fixture.drain(std::to_string(i), {1, 3}) < 3 ? 1 : 0;
    BOOST_TEST(sharing <= kChance);
    BOOST_TEST(fixture.drain(std::string("a\0b", 3), {1, 3}) == 3);
    BOOST_TEST(fixture.drain(std::string("a\0c", 3), {1, 3}) == 3);
    BOOST_TEST(fixture.drain("", {1, 3}) == 3);
}

BOOST_AUTO_TEST_CASE(the_entry_of_a_full_bucket_is_reused) {
    LimiterFixture fixture(8);  // the probes of each key cover the whole table
    int sharing = 0;
    for (int round = 0; round < 500; ++round) {
        for (int i = 0; i < 8; ++i) {
            sharing += fixture.drain(std::to_string(round * 8 + i), {1, 3}) < 3 ? 1 : 0;
        }
        fixture.now += seconds(3);
    }
    BOOST_TEST(sharing <= kChance);
}

BOOST_AUTO_TEST_CASE(the_entry_of_a_partly_used_bucket_is_not_reused) {
    LimiterFixture fixture(8);
    const RateLimit slow{1, 100};
    for (int i = 0; i < 7; ++i) BOOST_TEST(fixture.drain(std::to_string(i), slow) == 100);
    for (int i = 0; i < 1000; ++i) {
        fixture.take("other " + std::to_string(i), {100'000, 1});
        fixture.now += microseconds(20);
    }
    for (int i = 0; i < 7; ++i) BOOST_TEST(fixture.drain(std::to_string(i), slow) == 0);
}

BOOST_AUTO_TEST_CASE(a_full_table_lets_no_key_exceed_its_limit_and_blocks_none_for_long) {
    LimiterFixture fixture(8);
    const RateLimit limit{10, 5};
    for (int i = 0; i < 20; ++i) fixture.take("first " + std::to_string(i), limit);
    std::int64_t together = 0;
    for (int i = 0; i < 100; ++i) {
        const std::int64_t passed = fixture.drain("late " + std::to_string(i), limit);
        BOOST_TEST(passed <= 4);  // the owner of the shared bucket has used one
        together += passed;
    }
    BOOST_TEST(together > 0);
    BOOST_TEST(together <= 8 * 4);
    // While other keys fill the table, a new key gets at most its rate.
    std::int64_t passed = 0;
    for (int i = 0; i < 1000; ++i) {
        fixture.now += milliseconds(10);
        for (int other = 0; other < 8; ++other) {
            fixture.take("first " + std::to_string(other), {1, 100'000});
        }
        passed += fixture.take("late 1", limit).allowed ? 1 : 0;
    }
    BOOST_TEST(passed <= 2 * limit.burst + 100);
    fixture.now += seconds(2'000'000);
    BOOST_TEST(fixture.drain("late 1", limit) == 5);
}

BOOST_AUTO_TEST_CASE(two_limiters_place_the_same_keys_differently) {
    // The seed decides which keys share a bucket.
    std::vector<std::vector<bool>> seen;
    for (int i = 0; i < 2; ++i) {
        LimiterFixture fixture(64);
        std::vector<bool> shared;
        for (int key = 0; key < 200; ++key) {
            shared.push_back(fixture.drain(std::to_string(key), {1, 3}) < 3);
        }
        seen.push_back(shared);
    }
    BOOST_TEST(seen[0] != seen[1]);
}

BOOST_AUTO_TEST_CASE(the_number_of_slots_is_a_power_of_two) {
    for (const std::size_t slots : {std::size_t{0}, std::size_t{3}, std::size_t{65'535}}) {
        BOOST_CHECK_THROW(RateLimiter{slots}, std::invalid_argument);
    }
    LimiterFixture one(1);
    BOOST_TEST(one.drain("k", {1, 3}) == 3);
    BOOST_TEST(one.drain("other", {1, 3}) == 0);
}

// ---------------------------------------------------------------------------- many processes

BOOST_AUTO_TEST_CASE(processes_that_use_one_key_pass_exactly_the_limit_together) {
    constexpr std::int64_t kTicks = 400'000;  // microseconds, one per request
    const RateLimit limit{1000, 50};
    LimiterFixture fixture;
    SharedTally tally;
    in_children(4, [&] {
        for (std::int64_t tick; (tick = tally->tick++) < kTicks;) {
            if (fixture.limiter.take("k", limit, fixture.now + microseconds(tick)).allowed) {
                ++tally->passed[0];
            }
        }
    });
    const std::int64_t expected = limit.burst + kTicks * limit.per_second / 1'000'000;
    BOOST_TEST(tally->passed[0] >= expected - 1);
    BOOST_TEST(tally->passed[0] <= expected + 1);
}

BOOST_AUTO_TEST_CASE(processes_that_add_the_same_new_keys_create_one_bucket_each) {
    constexpr std::size_t kKeys = 256;
    constexpr std::int64_t kRounds = 40;
    LimiterFixture fixture;
    SharedTally tally;
    // Each tick takes one request for each key, so the processes add most keys at the same time.
    in_children(4, [&] {
        for (std::int64_t round = 0; round < kRounds; ++round) {
            for (std::size_t key = 0; key < kKeys; ++key) {
                if (fixture.limiter.take(std::to_string(key), {1, 100}, fixture.now).allowed) {
                    ++tally->passed[key];
                }
            }
        }
    });
    for (std::size_t key = 0; key < kKeys; ++key) BOOST_TEST(tally->passed[key] == 100, key);
}

BOOST_AUTO_TEST_CASE(processes_that_fill_a_small_table_pass_no_key_beyond_its_limit) {
    constexpr std::int64_t kTicks = 200'000;
    constexpr std::size_t kKeys = 16;
    const RateLimit limit{1000, 10};
    LimiterFixture fixture(8);
    SharedTally tally;
    in_children(4, [&] {
        for (std::int64_t tick; (tick = tally->tick++) < kTicks;) {
            const auto key = static_cast<std::size_t>(tick) * 7 % kKeys;
            if (fixture.limiter.take(std::to_string(key), limit, fixture.now + microseconds(tick))
                    .allowed) {
                ++tally->passed[key];
            }
        }
    });
    std::int64_t together = 0;
    for (std::size_t key = 0; key < kKeys; ++key) {
        together += tally->passed[key];
        // A key that moves from a shared bucket to its own gains at most one burst.
        BOOST_TEST(tally->passed[key] <= 2 * limit.burst + kTicks / 1000 + 2, key);
    }
    BOOST_TEST(together <= 8 * (limit.burst + kTicks / 1000 + 2));
    BOOST_TEST(together >= 4 * (limit.burst + kTicks / 1000));
}

// ---------------------------------------------------------------------------- header fields

BOOST_AUTO_TEST_CASE(the_header_fields_are_structured_fields) {
    using muster::process::rate_limit_field;
    using muster::process::rate_policy_field;
    BOOST_TEST(rate_policy_field({100, 200}) == "\"default\";q=200;w=2");
    BOOST_TEST(rate_policy_field({100, 201}) == "\"default\";q=201;w=3");
    BOOST_TEST(rate_policy_field({100'000, 1}) == "\"default\";q=1;w=1");
    BOOST_TEST(rate_policy_field(per_minute(10)) == "\"default\";q=10;w=60");
    BOOST_TEST(rate_policy_field({4, 8}, "organization") == "\"organization\";q=8;w=2");
    BOOST_TEST(rate_limit_field({true, 199, 1, 0}) == "\"default\";r=199;t=1");
    BOOST_TEST(rate_limit_field({true, 7, 1, 0}, "all") == "\"all\";r=7;t=1");
    BOOST_TEST(rate_limit_field({false, 0, 120, 1}) == "\"default\";r=0;t=120");
}

// A full table shows which keys share a bucket: 256 keys in 256 slots.
BOOST_AUTO_TEST_CASE(colliding_keys_differ_from_one_limiter_to_the_next) {
    std::set<std::string> patterns;
    for (int i = 0; i < 8; ++i) {
        LimiterFixture fixture(256);
        std::string pattern;
        for (int key = 0; key < 256; ++key) {
            pattern += fixture.take(std::to_string(key), per_minute(1)).allowed ? '1' : '0';
        }
        patterns.insert(pattern);
    }
    BOOST_TEST(patterns.size() == 8U);
}

BOOST_AUTO_TEST_SUITE_END()
