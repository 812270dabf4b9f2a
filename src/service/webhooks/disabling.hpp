// Disables an endpoint automatically: one that answered 410 or failed for five days
// (docs/webhooks.md "Deliveries"). One transaction disables it, cancels pending deliveries, informs
// the other endpoints and the owners (by mail, up to 60 mails a day) and writes the
// audit log.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <string_view>

namespace muster::service {

// `reason` is "gone" or "failing". With `failing_before`, only an endpoint that has failed since
// then or longer is disabled. Returns false if nothing was disabled. Cancels only a part of the
// pending deliveries; see cancel_deliveries().
bool disable_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys, EndpointId endpoint,
                              std::string_view reason, std::optional<Timestamp> failing_before);

// Cancels up to kCanceledAtOnce pending deliveries of an endpoint if it or its installation is
// disabled. Returns false when none are left.
bool cancel_deliveries(OrgTransaction& transaction, EndpointId endpoint);

// The URL without its query, which may hold a password.
[[nodiscard]] std::string_view url_without_query(std::string_view url);

}  // namespace muster::service
