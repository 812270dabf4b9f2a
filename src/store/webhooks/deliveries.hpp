// Deliveries of webhook events for the API. store/webhooks/queue.hpp has the functions for the
// runner, with leases.
#pragma once

#include "db/transaction.hpp"
#include "rules/webhooks/deliveries.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::store {

struct DeliveryFilter {
    std::optional<std::string> status;
    std::optional<std::string> event_type;
};

// Ordered by id, before `before`, newest first, without their attempts.
std::vector<rules::WebhookDelivery> page_deliveries(db::OrgStore& org, EndpointId endpoint,
                                                    std::optional<DeliveryId> before,
                                                    const DeliveryFilter& filter, int limit);
// The delivery, without its attempts. nullopt if it belongs to another endpoint.
std::optional<rules::WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                                    DeliveryId id);
// The maximum number of attempts shown per delivery.
inline constexpr int kMostAttemptsShown = 40;
// Reads the last attempts of all deliveries, oldest first, with one statement.
void read_attempts(db::OrgStore& org, std::vector<rules::WebhookDelivery>& deliveries);

// Makes the delivery pending and due now, and restarts its retry schedule. Does nothing if a runner
// holds it.
void requeue_delivery(db::OrgStore& org, EndpointId endpoint, DeliveryId id, Timestamp now);
// Queues at most `limit` deliveries with this status again that were created since then. Returns
// their number.
std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint,
                                rules::DeliveryStatus status, Timestamp since, Timestamp now,
                                std::int64_t limit);

}  // namespace muster::store
