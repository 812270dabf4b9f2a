// The wire format of webhooks, by Standard Webhooks 1.0.0 (docs/webhooks.md "Deliveries"): ids,
// secrets, signatures and bodies.
#pragma once

#include "base/ids.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// "msg_" and the 32 hex digits of the id. Contains no dot; the same for all attempts and endpoints.
[[nodiscard]] std::string webhook_id(const WebhookEventId& event);

// The webhook-timestamp header: the seconds since 1970.
[[nodiscard]] std::string webhook_timestamp(Timestamp attempted_at);

// "whsec_" and base64 of 32 random bytes, which are the HMAC key.
[[nodiscard]] Secret create_endpoint_secret();

// The webhook-signature header: "v1,<base64>" for each secret, separated by spaces. Throws
// std::invalid_argument if a secret is not in the format of create_endpoint_secret().
[[nodiscard]] std::string webhook_signatures(std::string_view webhook_id, Timestamp attempted_at,
                                             std::string_view body,
                                             std::span<const Secret> secrets);

// How long a rotated secret still signs.
inline constexpr Milliseconds kSecretOverlap = std::chrono::days(1);

// The body of an event: {"type", "timestamp", "data"}. `data` is JSON.
[[nodiscard]] std::string webhook_body(std::string_view type, Timestamp when,
                                       std::string_view data);

// A set of event types as stored: sorted, without duplicates, separated by spaces.
[[nodiscard]] std::string joined_types(std::vector<std::string> types);

}  // namespace muster::rules
