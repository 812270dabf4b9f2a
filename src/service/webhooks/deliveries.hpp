// Deliveries for an organization (docs/webhooks.md "Deliveries"): listed with their attempts,
// queued again one by one or since a time, and a test event. service/webhooks/dispatch.hpp sends
// them.
#pragma once

#include "rules/webhooks/deliveries.hpp"
#include "service/context.hpp"
#include "service/webhooks/endpoints.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct DeliveryFilter {
    std::optional<std::string> status;
    std::optional<std::string> event_type;
};

// At most `limit` deliveries older than `before`, newest first. Throws NOT_FOUND for the endpoint.
std::vector<rules::WebhookDelivery> list_deliveries(Context& context, OrgId organization,
                                                    const EndpointRef& ref,
                                                    std::optional<DeliveryId> before,
                                                    const DeliveryFilter& filter, int limit);
// nullopt if the endpoint does not have the delivery.
std::optional<rules::WebhookDelivery> find_delivery(Context& context, OrgId organization,
                                                    const EndpointRef& ref, DeliveryId id);

// The following functions throw NOT_FOUND, and INVALID_STATE unless the endpoint is active and its
// installation is not disabled.

// Sends an event of type webhook_endpoint.test to this endpoint only.
rules::WebhookDelivery test_endpoint(OrgTransaction& transaction, const EndpointRef& ref);
// Queues the delivery again from the first attempt on, with the same webhook id and whatever its
// result. A delivery that a runner is sending now is not changed.
rules::WebhookDelivery redeliver(OrgTransaction& transaction, const EndpointRef& ref,
                                 DeliveryId id);
// One transaction queues at most this many deliveries again.
inline constexpr std::int64_t kMostRecovered = 5'000;
struct Recovered {
    std::int64_t queued = 0;
    bool has_more = false;  // call again
};
// Queues failed and canceled deliveries created at or after `since` again. Throws VALIDATION_ERROR
// if `since` is in the future.
Recovered recover_deliveries(OrgTransaction& transaction, const EndpointRef& ref, Timestamp since);
// The same for the operator, without an installation.
Recovered recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                             Timestamp since);

}  // namespace muster::service
