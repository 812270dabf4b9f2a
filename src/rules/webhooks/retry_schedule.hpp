// The schedule of retries for failed webhooks (docs/webhooks.md "Deliveries").
#pragma once

#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

inline constexpr int kMostAttempts = 10;

// An endpoint is disabled after it has only failed for this long.
inline constexpr Milliseconds kFailingTooLong = std::chrono::days(5);

// The delay of the next attempt; nullopt if there is none. `made`: the number of attempts so far.
// `random` in [0, 1) varies the delay by up to a fifth either way. `retry_after`: the receiver's
// Retry-After, which is respected up to twice the delay.
[[nodiscard]] std::optional<Milliseconds> next_attempt_after(
    int made, double random, std::optional<Milliseconds> retry_after);

// The meaning of an attempt for the delivery and its endpoint. SenderFailed: an internal error of
// Muster; the delivery is retried, and the endpoint is not to blame.
enum class DeliveryResult { Delivered, Failed, Gone, SenderFailed };

// The outcome of an attempt that failed by an internal error.
inline constexpr std::string_view kInternalOutcome = "internal";

// `outcome`: "dns", "timeout", "http_5xx", …, or the 2xx status (net/webhooks/sender.hpp).
[[nodiscard]] DeliveryResult delivery_result(std::string_view outcome, std::optional<int> status);

// The outcome as counted by monitoring: all 2xx are counted together.
[[nodiscard]] std::string_view counted_class(std::string_view outcome);

// The first bytes of a reply as stored: valid UTF-8 (U+FFFD for invalid bytes), at most `most`
// bytes.
[[nodiscard]] std::string readable_excerpt(std::string_view bytes, std::size_t most);

}  // namespace muster::rules
