// The outbox of webhook events: who listens, and what is put in (service/outbox.hpp).
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

// The endpoints that take events now: active and paused ones (whose events wait) of installations
// that are not disabled.
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
// Due at once.
void insert_deliveries(db::OrgStore& org, std::span<const NewDelivery> deliveries, Timestamp now);

// What is still on its way to the endpoints of an installation: nothing more is tried.
void cancel_deliveries(db::OrgStore& org, InstallationId installation, Timestamp now);

}  // namespace muster::store
