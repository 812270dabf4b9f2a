// Stores the engagement events of members and anonymous visitors that web pages track
// (specification 6, docs/engagement.md "Tracking").
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
    // Exactly one of these four identifies the person. An event of an unknown member is stored
    // without a link, so the reply does not reveal who is a member.
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

// The events of one request.
struct TrackedCall {
    Actor actor;
    std::vector<TrackedEvent> events;
    std::optional<std::string> geo_country;
    std::optional<std::string> geo_region;
};

// Adds a fault for each error: none or several of the four references, a time outside the window,
// metadata that is too long. With `is_batch`, the paths begin with events[i].
void check_tracked(std::span<const TrackedEvent> events, bool is_batch, Timestamp now,
                   Faults& faults);

// Stores the events of one organization's requests with one statement and emits engagement.recorded
// for each new event. Returns the counts in the order of the requests. Counts TrackedBytes; the
// caller checks their limit before.
std::vector<rules::EventCounts> track_events(OrgTransaction& transaction,
                                             std::span<const TrackedCall* const> calls);

}  // namespace muster::service
