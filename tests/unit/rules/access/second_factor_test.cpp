// rules/access/second_factor.hpp: pauses that grow, what a right code forgives, and the probability
// that a guesser succeeds within a year.
#include "rules/access/second_factor.hpp"

#include "rules/access/totp.hpp"

#include "print.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace muster;
using namespace muster::rules;

namespace {

constexpr Timestamp kFirstGuess{1'800'000'000'000};
constexpr Milliseconds kOneMinute = std::chrono::minutes(1);
constexpr Milliseconds kOneDay = std::chrono::hours(24);
constexpr Milliseconds kOneYear = 365 * kOneDay;

// Wrong codes until the next pause begins; returns the pause in minutes.
int next_pause(SecondFactorGuesses& guesses, Timestamp& now) {
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(!seconds_paused(guesses, now).has_value());
        guesses = after_wrong_code(guesses, now);
    }
    const int seconds = seconds_paused(guesses, now).value_or(0);
    now = now + Milliseconds(1000L * seconds);
    return seconds / 60;
}

// A guesser who knows when a guess is possible, and an admin who signs in meanwhile.
struct Attack {
    std::int64_t most_pauses;  // then the guesser waits until everything is forgiven
    bool avoids_pauses;        // stops after four wrong codes until they are forgiven
    Milliseconds sign_ins;     // between two right codes of the admin, each after `mistakes`
    int mistakes;
};

class Year {
  public:
    explicit Year(const Attack& attack) : attack_(attack) {}

    std::int64_t guesses() {
        for (Timestamp now = kFirstGuess; now < kFirstGuess + kOneYear;
             now = now + 5 * kOneMinute) {
            if (now >= next_sign_in_) sign_in(now);
            while (may_guess(now)) {
                state_ = after_wrong_code(state_, now);
                last_guess_ = now;
                ++guesses_;
            }
        }
        return guesses_;
    }

  private:
    void sign_in(Timestamp now) {
        next_sign_in_ = now + attack_.sign_ins;
        for (int i = 0; i < attack_.mistakes && !seconds_paused(state_, now); ++i) {
            state_ = after_wrong_code(state_, now);
            ++own_failures_;
        }
        if (seconds_paused(state_, now)) return;
        state_ = after_right_code(state_, own_failures_);
        own_failures_ = 0;
    }
    bool may_guess(Timestamp now) const {
        if (seconds_paused(state_, now)) return false;
        if (now - last_guess_ >= kForgivenAfter && now - state_.paused_until >= kForgivenAfter) {
            return true;
        }
        if (state_.pauses >= attack_.most_pauses) return false;
        return !attack_.avoids_pauses || state_.failures + 1 < kFailuresPerPause;
    }

    Attack attack_;
    SecondFactorGuesses state_;
    Timestamp last_guess_;
    Timestamp next_sign_in_ = kFirstGuess;
    std::int64_t own_failures_ = 0;
    std::int64_t guesses_ = 0;
};

// Each guess is one of all codes, of which those of some adjacent steps are valid.
double probability(std::int64_t guesses) {
    const double one = static_cast<double>(kTotpValidCodes) / static_cast<double>(kTotpCodes);
    return 1 - std::pow(1 - one, static_cast<double>(guesses));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(second_factor)

BOOST_AUTO_TEST_CASE(each_pause_is_twice_as_long_as_the_one_before_up_to_a_day) {
    SecondFactorGuesses guesses;
    Timestamp now = kFirstGuess;
    for (const int minutes : {15, 30, 60, 120, 240, 480, 960, 1440, 1440, 1440}) {
        BOOST_TEST(next_pause(guesses, now) == minutes);
    }
}

BOOST_AUTO_TEST_CASE(a_pause_ends_exactly_at_its_time) {
    SecondFactorGuesses guesses;
    for (int i = 0; i < 5; ++i) guesses = after_wrong_code(guesses, kFirstGuess);
    BOOST_TEST(seconds_paused(guesses, kFirstGuess) == 900);
    BOOST_TEST(seconds_paused(guesses, kFirstGuess + Milliseconds(1)) == 900);
    BOOST_TEST(seconds_paused(guesses, kFirstGuess + Milliseconds(899'999)) == 1);
    BOOST_TEST(!seconds_paused(guesses, kFirstGuess + Milliseconds(900'000)).has_value());
}

BOOST_AUTO_TEST_CASE(a_request_that_waited_for_a_wrong_code_is_not_paused_by_it) {
    const auto guesses = after_wrong_code({}, kFirstGuess);
    BOOST_TEST(!seconds_paused(guesses, kFirstGuess + Milliseconds(-3)).has_value());
}

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_back_pauses_for_a_day_at_most) {
    const SecondFactorGuesses guesses{0, 1, kFirstGuess + kOneYear};
    BOOST_TEST(seconds_paused(guesses, kFirstGuess) == 24 * 3600);
}

BOOST_AUTO_TEST_CASE(a_right_code_forgives_the_wrong_codes_of_its_session) {
    SecondFactorGuesses guesses;
    for (int i = 0; i < 13; ++i) guesses = after_wrong_code(guesses, kFirstGuess);
    BOOST_TEST(guesses.pauses == 2);
    BOOST_TEST(guesses.failures == 3);
    const auto forgiven = after_right_code(guesses, 13);
    BOOST_TEST(forgiven.pauses == 0);
    BOOST_TEST(forgiven.failures == 0);
    BOOST_TEST((forgiven.paused_until == Timestamp()));
}

BOOST_AUTO_TEST_CASE(a_right_code_does_not_forgive_the_wrong_codes_of_another_session) {
    SecondFactorGuesses guesses;
    for (int i = 0; i < 13; ++i) guesses = after_wrong_code(guesses, kFirstGuess);
    for (const auto& [own, pauses, failures] :
         {std::tuple{0, 2, 3}, {1, 2, 2}, {4, 1, 4}, {12, 0, 1}, {100, 0, 0}}) {
        const auto left = after_right_code(guesses, own);
        BOOST_TEST(left.pauses == pauses, own);
        BOOST_TEST(left.failures == failures, own);
    }
}

BOOST_AUTO_TEST_CASE(a_week_without_a_wrong_code_forgives_everything) {
    SecondFactorGuesses guesses;
    Timestamp now = kFirstGuess;
    for (int i = 0; i < 3; ++i) (void)next_pause(guesses, now);
    const auto soon = after_wrong_code(guesses, now + 7 * kOneDay - Milliseconds(1));
    BOOST_TEST(soon.pauses == 3);
    const auto late = after_wrong_code(guesses, now + 7 * kOneDay);
    BOOST_TEST(late.pauses == 0);
    BOOST_TEST(late.failures == 1);
}

BOOST_AUTO_TEST_CASE(a_year_of_guesses_succeeds_with_a_probability_of_at_most_one_percent) {
    std::int64_t most = 0;
    for (std::int64_t pauses = 1; pauses <= 12; ++pauses) {
        for (const bool avoids_pauses : {false, true}) {
            for (const auto& [sign_ins, mistakes] : {std::pair{2 * kOneYear, 0},
                                                     {kOneDay, 0},
                                                     {kOneDay, 2},
                                                     {60 * kOneMinute, 0},
                                                     {15 * kOneMinute, 0},
                                                     {15 * kOneMinute, 1}}) {
                const bool is_endless = pauses == 12;
                const Attack attack{is_endless ? 1'000'000 : pauses, avoids_pauses, sign_ins,
                                    mistakes};
                const std::int64_t guesses = Year(attack).guesses();
                BOOST_TEST(probability(guesses) <= 0.01,
                           guesses << " guesses; pauses " << pauses << ", avoids them "
                                   << avoids_pauses << ", the admin signs in each "
                                   << sign_ins / kOneMinute << " minutes");
                most = std::max(most, guesses);
            }
        }
    }
    BOOST_TEST(most > 1000);  // the guessers did guess
    BOOST_TEST_MESSAGE("at most " << most << " guesses: " << 100 * probability(most) << " %");
}

BOOST_AUTO_TEST_SUITE_END()
