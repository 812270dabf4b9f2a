// Stores the engagement events that installed modules push (specification 6, docs/modules.md
// "Ingest"). A batch is stored completely or not at all.
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
    // Exactly one of these four identifies the member.
    std::optional<UserId> user_id;
    std::optional<MemberId> member_id;
    std::optional<std::string> member_external_id;
    std::optional<std::string> email;  // normalized
    std::vector<std::string> tags;
    std::optional<RawJson> metadata;
    std::optional<std::string> client_event_id;
    std::optional<Timestamp> occurred_at;
};

// One request of a module.
struct PushedCall {
    Actor actor;
    std::optional<IdempotencyClaim> claim;
    InstallationId installation;
    std::vector<PushedEvent> events;
};

// Stores the events. Emits engagement.recorded for each new event, and also its own type if it has
// one. Throws VALIDATION_ERROR with the faults of all events: none or several member references, an
// unknown member or an external id shared by several members, a type that the installed version
// does not emit, a time outside the window, metadata that is too long. Counts IngestedBytes; the
// caller checks their limit before.
rules::EventCounts ingest_events(OrgTransaction& transaction, InstallationId installation,
                                 const std::vector<PushedEvent>& events);

}  // namespace muster::service
