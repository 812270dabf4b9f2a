// Events for webhooks: written to the outbox in the very transaction that makes the change, so that
// neither can be without the other (docs/webhooks.md "Event types"). The runner delivers them
// (service/webhooks/dispatch.hpp). An import emits none (specification 6).
#pragma once

#include "service/context.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::service {

struct Event {
    std::string_view type;              // rules/event_types.hpp, or a module's own
    std::optional<UserId> about;        // whom it is about: an erasure of the person takes it along
    std::function<std::string()> data;  // JSON; asked for only if some endpoint wants the event
};

// For every endpoint of the organization that subscribes to the type. Costs one look-up for all
// events of the call, and nothing more where nobody listens.
void emit(OrgTransaction& transaction, std::span<const Event> events);
void emit(OrgTransaction& transaction, const Event& event);

// To one endpoint alone, whatever it subscribes to. The delivery's id.
DeliveryId emit_to(OrgTransaction& transaction, EndpointId endpoint, const Event& event);

}  // namespace muster::service
