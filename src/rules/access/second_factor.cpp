#include "rules/access/second_factor.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

// 15 minutes for the first pause, then 30, 60 and so on.
Milliseconds length_of_pause(std::int64_t number) {
    Milliseconds length = kShortestPause;
    while (--number > 0 && length < kLongestPause) length *= 2;
    return std::min(length, kLongestPause);
}

}  // namespace

std::optional<int> seconds_paused(const SecondFactorGuesses& guesses, Timestamp now) {
    // After a failure the time is that of the failure. A request that waited for it began earlier.
    if (guesses.failures > 0 || guesses.paused_until <= now) return std::nullopt;
    // If the clock was set back, the pause is not longer than the longest one.
    const auto left = std::min(guesses.paused_until - now, kLongestPause).count();
    return static_cast<int>((left + 999) / 1000);
}

SecondFactorGuesses after_wrong_code(const SecondFactorGuesses& guesses, Timestamp now) {
    const bool is_forgiven = now - guesses.paused_until >= kForgivenAfter;
    const SecondFactorGuesses before = is_forgiven ? SecondFactorGuesses() : guesses;
    if (before.failures + 1 < kFailuresPerPause) {
        return {before.failures + 1, before.pauses, now};
    }
    return {0, before.pauses + 1, now + length_of_pause(before.pauses + 1)};
}

SecondFactorGuesses after_right_code(const SecondFactorGuesses& guesses,
                                     std::int64_t own_failures) {
    const std::int64_t all = guesses.pauses * kFailuresPerPause + guesses.failures;
    const std::int64_t left = std::max(all - own_failures, std::int64_t{0});
    return {left % kFailuresPerPause, left / kFailuresPerPause,
            left == 0 ? Timestamp() : guesses.paused_until};
}

}  // namespace muster::rules
