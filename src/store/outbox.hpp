// The outbox of webhook events: the endpoints that receive events, and inserting events
// (service/outbox.hpp).
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

struct Listener {
    EndpointId endpoint;
    std::string event_types;  // joined_types()
};

// The endpoints that receive events: active ones, and paused ones, whose events are queued.
// Excludes disabled installations.
std::vector<Listener> find_listeners(db::OrgStore& org);

struct NewWebhookEvent {
    WebhookEventId id;
    std::string type;
    std::string body;
    std::optional<UserId> about;
};
void insert_webhook_events(db::OrgStore& org, std::span<const NewWebhookEvent> events,
                           Timestamp now);

struct NewDelivery {
    DeliveryId id;
    EndpointId endpoint;
    WebhookEventId event;
};
// Inserts pending deliveries that are due at once.
void insert_deliveries(db::OrgStore& org, std::span<const NewDelivery> deliveries, Timestamp now);

// Cancels the pending deliveries to the endpoints of an installation.
void cancel_deliveries(db::OrgStore& org, InstallationId installation, Timestamp now);

}  // namespace muster::store
