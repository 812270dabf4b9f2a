// The outbox of webhook events: whether an endpoint receives a type of event, and inserting events
// (service/outbox.hpp).
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Whether an endpoint receives events of the type: an active one, or a paused one, whose deliveries
// wait. Excludes disabled installations. Stops at the first endpoint.
bool has_listener(db::OrgStore& org, std::string_view event_type);

struct NewWebhookEvent {
    WebhookEventId id;
    std::string type;
    std::string body;
    std::optional<UserId> about;
};
void insert_webhook_events(db::OrgStore& org, std::span<const NewWebhookEvent> events,
                           Timestamp now);

// Records that the deliveries of the events are to be created.
void insert_outbox(db::OrgStore& org, std::span<const NewWebhookEvent> events, Timestamp now);

struct NewDelivery {
    DeliveryId id;
    EndpointId endpoint;
    WebhookEventId event;
    Timestamp created_at;
    bool is_canceled = false;  // the endpoint was disabled after the event
};
// Inserts deliveries. They are pending and due at once, except the canceled ones.
void insert_deliveries(db::OrgStore& org, std::span<const NewDelivery> deliveries, Timestamp now);

// Cancels at most `limit` pending deliveries to the endpoints of an installation.
void cancel_deliveries(db::OrgStore& org, InstallationId installation, Timestamp now, int limit);

}  // namespace muster::store
