// Engagement events: storing pushed and tracked events, and reading them.
#pragma once

#include "db/transaction.hpp"
#include "rules/engagement/events.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The manifest of the installed version, as JSON; nullopt if the installation does not exist.
std::optional<std::string> find_installed_manifest(db::OrgStore& org, InstallationId installation);

// The client_event_ids among these that tracked events of the organization already have, or events
// that were ingested before schema version 8.
std::vector<std::string> find_client_events(db::OrgStore& org, std::span<const std::string> ids);

// The client_event_ids among these that events of the installation already have.
std::vector<std::string> find_ingested_events(db::OrgStore& org, InstallationId installation,
                                              std::span<const std::string> ids);

// `installation`: the installation that pushed the events; nullopt for tracked events. Throws
// DbError Duplicate if a client_event_id exists already in the space of the same source.
void insert_engagement_events(db::OrgStore& org, std::optional<InstallationId> installation,
                              std::span<const rules::EngagementEvent> events);

// A position in the list of a member's events.
struct EventPosition {
    Timestamp occurred_at;
    EventId id;
};
// The first page of a member's events.
struct FirstPage {
    MemberId member;
    int limit;
};
// The pages of these distinct members, read together. In the order of `pages`, each as
// page_engagement_events() orders it.
std::vector<std::vector<rules::EngagementEvent>> first_engagement_events(
    db::OrgStore& org, std::span<const FirstPage> pages);

// The member's events after `after` (nullopt: from the start), at most `limit`. Newest first;
// events with the same time are ordered by descending id. The caller fills in the member's ids.
std::vector<rules::EngagementEvent> page_engagement_events(
    db::OrgStore& org, MemberId member, const std::optional<EventPosition>& after, int limit);

// The number of the member's events, counted up to `most`.
std::int64_t count_member_events(db::OrgStore& org, MemberId member, std::int64_t most);

// The organization's events that were received at `since` or later, those of visitors included,
// with the ids of their members. Newest first, from the event before `before` if it is given.
std::vector<rules::EngagementEvent> page_recent_events(db::OrgStore& org, Timestamp since,
                                                       std::optional<EventId> before, int limit);

}  // namespace muster::store
