// Engagement events as modules push and pages track them, and reading them back.
#pragma once

#include "db/transaction.hpp"
#include "rules/engagement/events.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The manifest of the installation's version, JSON; nullopt without such an installation.
std::optional<std::string> find_installed_manifest(db::OrgStore& org, InstallationId installation);

// Those of these client_event_ids that an event of the organization has.
std::vector<std::string> find_client_events(db::OrgStore& org, std::span<const std::string> ids);

// `installation`: which pushed them; nullopt for what pages track. Throws DbError Duplicate for a
// client_event_id that is taken.
void insert_engagement_events(db::OrgStore& org, std::optional<InstallationId> installation,
                              std::span<const rules::EngagementEvent> events);

// A place among a member's events.
struct EventPlace {
    Timestamp occurred_at;
    EventId id;
};
// The member's events behind `after` (nullopt: all), newest first, of one moment those with the
// greatest id first; at most `limit`. What they are of the member is the caller's to fill in.
std::vector<rules::EngagementEvent> page_engagement_events(db::OrgStore& org, MemberId member,
                                                           const std::optional<EventPlace>& after,
                                                           int limit);

}  // namespace muster::store
