// When a webhook that failed is tried again, and when it is given up (docs/modules.md
// "Deliveries").
#pragma once

#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

inline constexpr int kMostAttempts = 10;

// An endpoint that only failed for so long is disabled.
inline constexpr Milliseconds kFailingTooLong = std::chrono::days(5);

// How long after an attempt the next one comes; `made`: the attempts so far, that one included.
// `random` in [0, 1) spreads the step by a fifth either way. What the receiver asked for
// (Retry-After) is waited for, up to twice the step. nullopt: there is no next one.
[[nodiscard]] std::optional<Milliseconds> next_attempt_after(
    int made, double random, std::optional<Milliseconds> retry_after);

// What an attempt means for the delivery and its endpoint.
enum class Verdict { Delivered, Failed, Gone };

// `outcome`: "dns", "timeout", "http_5xx", …, or the 2xx status (net/webhooks/sender.hpp).
[[nodiscard]] Verdict verdict_on(std::string_view outcome, std::optional<int> status);

// The outcome as monitoring counts it: all of 2xx are one.
[[nodiscard]] std::string_view counted_class(std::string_view outcome);

// The first bytes of an answer as they are kept: valid UTF-8 (U+FFFD for what is not), at most
// `most` bytes.
[[nodiscard]] std::string readable_excerpt(std::string_view bytes, std::size_t most);

}  // namespace muster::rules
