// Deliveries of webhook events as the API shows and moves them. What a runner does with them is
// another file's: here nobody holds a lease.
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

// By id before `before`, newest first; without their attempts.
std::vector<rules::WebhookDelivery> page_deliveries(db::OrgStore& org, EndpointId endpoint,
                                                    std::optional<DeliveryId> before,
                                                    const DeliveryFilter& filter, int limit);
// That endpoint's alone; without its attempts.
std::optional<rules::WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                                    DeliveryId id);
// Of a delivery that was sent again and again.
inline constexpr int kMostAttemptsShown = 40;
// Fills in the last attempts of all of them, oldest first, with one statement.
void read_attempts(db::OrgStore& org, std::vector<rules::WebhookDelivery>& deliveries);

// Pending and due now, on the ladder's first step. One that a runner is at stays as it is.
void requeue_delivery(db::OrgStore& org, EndpointId endpoint, DeliveryId id, Timestamp now);
// The same for all that failed or were canceled, of those that were made at `since` or later. How
// many.
std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint, Timestamp since,
                                Timestamp now);

}  // namespace muster::store
