// What installed modules push (specification 6, docs/modules.md "Ingest"): a batch of engagement
// events, taken as a whole or not at all.
#pragma once

#include "rules/engagement/events.hpp"
#include "service/context.hpp"
#include "service/idempotency.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct PushedEvent {
    std::optional<std::string> type;
    std::string action;
    // Exactly one of these four names the member.
    std::optional<UserId> user_id;
    std::optional<MemberId> member_id;
    std::optional<std::string> member_external_id;
    std::optional<std::string> email;  // normalised
    std::vector<std::string> tags;
    std::optional<RawJson> metadata;
    std::optional<std::string> client_event_id;
    std::optional<Timestamp> occurred_at;
};

// One request of a module's backend.
struct PushedCall {
    Actor actor;
    std::optional<IdempotencyClaim> claim;
    InstallationId installation;
    std::vector<PushedEvent> events;
};

// Stores the events and emits engagement.recorded for each that is new, and its own type beside it.
// Throws VALIDATION_ERROR with every fault of all events: an event without or with several member
// references, a member that is none or that several share the external id of, a type that the
// installation's version does not emit, a time outside the window, metadata that is too long.
rules::EventCounts ingest_events(OrgTransaction& transaction, InstallationId installation,
                                 const std::vector<PushedEvent>& events);

}  // namespace muster::service
