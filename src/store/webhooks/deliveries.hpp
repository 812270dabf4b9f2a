// Deliveries of webhook events for the API. store/webhooks/queue.hpp has the functions for the
// runner, with leases.
#pragma once

#include "db/transaction.hpp"
#include "rules/webhooks/deliveries.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// A time span of created_at: from `since` on, before `until`.
struct TimeSpan {
    std::optional<Timestamp> since;
    std::optional<Timestamp> until;
};

// An absent condition matches every delivery.
struct DeliveryFilter {
    std::optional<EndpointId> endpoint;
    std::optional<rules::DeliveryStatus> status;
    std::optional<std::string> event_type;
    std::optional<rules::AttemptClass> attempt_class;  // of the last attempt
    TimeSpan span;
};

struct DeliveryEntry {
    DeliveryId id;
    // Without attempts and payload. nullopt: it does not meet the conditions, or its endpoint is
    // being deleted.
    std::optional<rules::WebhookDelivery> delivery;
};
// Reads `limit` entries of one index, newest first, before `before`. The index is chosen by the
// endpoint and the status; an entry that it finds may not meet the other conditions.
std::vector<DeliveryEntry> page_deliveries(db::OrgStore& org, const DeliveryFilter& filter,
                                           std::optional<DeliveryId> before, int limit);
// The delivery with its payload, without its attempts. nullopt if it belongs to another endpoint.
std::optional<rules::WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                                    DeliveryId id);
// The maximum number of attempts shown per delivery.
inline constexpr int kMostAttemptsShown = 40;
// Reads the last attempts of all deliveries, oldest first.
void read_attempts(db::OrgStore& org, std::vector<rules::WebhookDelivery>& deliveries);
// Deletes all but the last kMostAttemptsShown attempts of each delivery, at most kMostOldAttempts
// times the number of deliveries. Returns their number.
inline constexpr int kMostOldAttempts = 20;
std::int64_t delete_old_attempts(db::OrgStore& org, std::span<const DeliveryId> deliveries);

// Makes the delivery pending and due now, and restarts its retry schedule. Returns false if nothing
// changed, because a runner holds it or it does not exist.
bool requeue_delivery(db::OrgStore& org, EndpointId endpoint, DeliveryId id, Timestamp now);
// Queues at most `limit` deliveries with this status again that were created in the time span.
// Returns their number.
std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint,
                                rules::DeliveryStatus status, const TimeSpan& span, Timestamp now,
                                std::int64_t limit);
// Their number, counted up to `most`.
std::int64_t count_recoverable(db::OrgStore& org, EndpointId endpoint, rules::DeliveryStatus status,
                               const TimeSpan& span, std::int64_t most);

}  // namespace muster::store
