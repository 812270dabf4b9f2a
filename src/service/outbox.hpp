// Webhook events, written to the outbox in the transaction of the change, so that both are
// committed or neither (docs/webhooks.md "Event types"). The runner creates the deliveries
// (service/webhooks/fan_out.hpp) and sends them (service/webhooks/dispatch.hpp). An import emits no
// events (specification 6).
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::service {

struct Event {
    std::string_view type;              // rules/event_types.hpp, or a module's own
    std::optional<UserId> about;        // the person; erasing the person deletes the event
    std::function<std::string()> data;  // JSON; called only if an endpoint subscribes to the event
};

// Queues each event for the endpoints of the organization that subscribe to its type. The cost does
// not depend on the number of endpoints: one query for each type, and two rows for each event that
// has a subscriber. Returns the bytes of the events that it stored.
std::int64_t emit(OrgTransaction& transaction, std::span<const Event> events);
std::int64_t emit(OrgTransaction& transaction, const Event& event);

// How many pending deliveries a transaction cancels. The runner cancels those that a disabled
// endpoint or installation still has (service/webhooks/dispatch.hpp).
inline constexpr int kCanceledAtOnce = 1000;

// Queues the event for one endpoint, whatever its subscriptions. Returns the delivery's id.
DeliveryId emit_to(OrgTransaction& transaction, EndpointId endpoint, const Event& event);

}  // namespace muster::service
