// What the runner needs to create the deliveries of events (service/webhooks/fan_out.hpp).
#pragma once

#include "db/transaction.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The first organization after `after` that has events in the outbox.
std::optional<OrgId> next_in_outbox(db::Tx& tx, OrgId after);

struct OutboxEvent {
    WebhookEventId id;
    std::string type;
    Timestamp created_at;
};
// Locks the earliest events of the outbox until the transaction ends. Skips those that another
// runner has locked.
std::vector<OutboxEvent> lock_outbox(db::OrgStore& org, int limit);
void delete_outbox(db::OrgStore& org, std::span<const WebhookEventId> events);

// The number of pending deliveries of each endpoint that has some.
std::map<EndpointId, std::int64_t> count_pending(db::OrgStore& org);
// Sets the time of the endpoints' last drop, unless it is set since `since`. Skips locked
// endpoints.
void set_dropped(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp since,
                 Timestamp now);

struct OutboxBacklog {
    std::int64_t events = 0;  // counted up to kMostCounted
    std::optional<Timestamp> oldest;
};
OutboxBacklog measure_outbox(db::Tx& tx);
// The number of endpoints with drops since `since`. Reads all endpoints.
std::int64_t count_dropping(db::Tx& tx, Timestamp since);

}  // namespace muster::store
