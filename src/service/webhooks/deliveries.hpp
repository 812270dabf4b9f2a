// Deliveries as an organization sees and moves them (docs/webhooks.md "Deliveries"): each with its
// attempts; sent again one by one or since a time; a test event. Sending itself is
// service/webhooks/dispatch.hpp.
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

// Newest first, before `before`, at most `limit`. Throws NOT_FOUND for the endpoint.
std::vector<rules::WebhookDelivery> list_deliveries(Context& context, OrgId organization,
                                                    const EndpointPlace& place,
                                                    std::optional<DeliveryId> before,
                                                    const DeliveryFilter& filter, int limit);
// nullopt when the endpoint has no such delivery.
std::optional<rules::WebhookDelivery> find_delivery(Context& context, OrgId organization,
                                                    const EndpointPlace& place, DeliveryId id);

// These want an active endpoint of an installation that is not disabled: else INVALID_STATE.
// NOT_FOUND for what is not there.

// An event of type webhook_endpoint.test to this endpoint alone.
rules::WebhookDelivery test_endpoint(OrgTransaction& transaction, const EndpointPlace& place);
// Pending again, from the first attempt on, with the same webhook id, whatever became of it; one
// that a runner is sending right now stays as it is.
rules::WebhookDelivery redeliver(OrgTransaction& transaction, const EndpointPlace& place,
                                 DeliveryId id);
// The same for all that failed or were canceled, of those made at `since` or later: how many.
// Throws VALIDATION_ERROR for a time to come.
std::int64_t recover_deliveries(OrgTransaction& transaction, const EndpointPlace& place,
                                Timestamp since);
// The same for the operator, who names no installation.
std::int64_t recover_deliveries(Context& context, OrgId organization, EndpointId endpoint,
                                Timestamp since);

}  // namespace muster::service
