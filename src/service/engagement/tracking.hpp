// What web pages track (specification 6, docs/engagement.md "Tracking"): engagement events of
// members and of visitors whom nobody knows.
#pragma once

#include "base/faults.hpp"
#include "base/record.hpp"
#include "rules/engagement/events.hpp"
#include "service/context.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::service {

struct TrackedEvent {
    // Exactly one of these four says who it was. A member whom the organization does not have is
    // kept without a link, so that nobody learns who is one.
    std::optional<UserId> user_id;
    std::optional<MemberId> member_id;
    std::optional<std::string> member_external_id;
    std::optional<std::string> anonymous_id;
    std::string action;
    std::vector<std::string> tags;
    std::optional<RawJson> metadata;
    std::optional<std::string> client_event_id;
    std::optional<Timestamp> occurred_at;
};

// One request's events.
struct TrackedCall {
    Actor actor;
    std::vector<TrackedEvent> events;
    std::optional<std::string> geo_country;
    std::optional<std::string> geo_region;
};

// Adds what is wrong with them: none or several of the four, a time outside the window, metadata
// that is too long. `is_batch`: whether paths begin with events[i].
void check_tracked(std::span<const TrackedEvent> events, bool is_batch, Timestamp now,
                   Faults& faults);

// Stores the events of one organization's requests by one statement and emits engagement.recorded
// for each that is new. The counts, in the order of the requests.
std::vector<rules::EventCounts> track_events(OrgTransaction& transaction,
                                             std::span<const TrackedCall* const> calls);

}  // namespace muster::service
