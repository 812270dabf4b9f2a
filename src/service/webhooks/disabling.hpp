// Muster itself disables an endpoint: one that answered 410, or only failed for five days
// (docs/webhooks.md "Deliveries"). All that follows is one transaction: what waits is canceled, the
// organization's other endpoints and its owners are told (by mail 20 times a day at most), and the
// audit log has it.
#pragma once

#include "service/context.hpp"

#include <optional>
#include <string_view>

namespace muster::service {

// `reason`: "gone" or "failing". With `failing_before`, only an endpoint that fails since then or
// longer. False when there was nothing to disable. Of what is pending a part is canceled; see
// cancel_deliveries().
bool disable_webhook_endpoint(OrgTransaction& transaction, const KeyRing& keys, EndpointId endpoint,
                              std::string_view reason, std::optional<Timestamp> failing_before);

// Cancels some of what is pending to an endpoint if it, or its installation, is disabled. False
// once nothing is left to cancel.
bool cancel_deliveries(OrgTransaction& transaction, EndpointId endpoint);

// Without the query, which may hold a password.
[[nodiscard]] std::string_view url_to_show(std::string_view url);

}  // namespace muster::service
