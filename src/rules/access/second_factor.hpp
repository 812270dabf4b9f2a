// Limits guesses at an admin's second factor (docs/api/sign-in.md "Limits on sign-in"). Five wrong
// codes pause the second factor, and each pause is twice as long as the one before, up to a day. A
// guesser succeeds within a year with a probability of less than 1 %, whatever the admin does. So a
// right code forgives only the wrong codes of its own session: one that another session sends says
// nothing about the guesser's. Pure functions; service/access/two_factor.cpp keeps the state.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <optional>

namespace muster::rules {

// Of an admin, over all sessions.
struct SecondFactorGuesses {
    std::int64_t failures = 0;  // wrong codes since the last pause
    std::int64_t pauses = 0;    // in a row
    Timestamp paused_until;     // without a pause: the time of the last wrong code
};

inline constexpr std::int64_t kFailuresPerPause = 5;
inline constexpr Milliseconds kShortestPause = std::chrono::minutes(15);
inline constexpr Milliseconds kLongestPause = std::chrono::hours(24);
// A week without an attempt forgives everything. No session lives longer.
inline constexpr Milliseconds kForgivenAfter = std::chrono::days(7);

// How long a session may create secrets after its second factor. Then it verifies the factor again.
inline constexpr Milliseconds kRecentSecondFactor = std::chrono::minutes(15);

// Seconds until the next attempt is allowed; nullopt if it is allowed now.
[[nodiscard]] std::optional<int> seconds_paused(const SecondFactorGuesses& guesses, Timestamp now);
[[nodiscard]] SecondFactorGuesses after_wrong_code(const SecondFactorGuesses& guesses,
                                                   Timestamp now);
// `own_failures`: the wrong codes that the session has sent since its last right one.
[[nodiscard]] SecondFactorGuesses after_right_code(const SecondFactorGuesses& guesses,
                                                   std::int64_t own_failures);

}  // namespace muster::rules
