// Engagement events as modules push and pages track them, whom they are about, and reading them
// back.
#pragma once

#include "db/transaction.hpp"
#include "rules/records.hpp"
#include "store/members/members.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The manifest of the installation's version, JSON; nullopt without such an installation.
std::optional<std::string> find_installed_manifest(db::OrgStore& org, InstallationId installation);

// A membership that an event is linked to.
struct LinkedMember {
    UserId user;
    MemberId member;
    std::optional<std::string> external_id;
};
// Those of these who are members. With Lock::Share they stay so until the transaction ends: an
// erasure waits for the events that are being written, and takes them along.
std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               Lock lock);
std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             Lock lock);
// Several may share an external id: then at least two of them are given, and never all of many.
std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      Lock lock);

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
