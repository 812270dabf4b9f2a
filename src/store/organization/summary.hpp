// The counts of an organization's summary. Each reads entries of an index, up to a bound.
#pragma once

#include "db/transaction.hpp"
#include "rules/organization/summary.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::store {

// Members with this status, counted up to `most`.
std::int64_t count_members_of_status(db::OrgStore& org, std::string_view status, std::int64_t most);
// Members changed at `since` or later, counted up to `most`.
std::int64_t count_members_changed(db::OrgStore& org, Timestamp since, std::int64_t most);

std::optional<rules::ActiveImport> find_active_import(db::OrgStore& org, Timestamp now);

// Seats, and the invitations that are valid at `now`.
rules::TeamCounts count_team(db::OrgStore& org, Timestamp now);
std::int64_t count_enabled_attributes(db::OrgStore& org);

struct KeySummary {
    rules::KeyCounts valid;     // at `now`
    rules::KeyCounts expiring;  // those of them that expire at `until` or earlier
};
KeySummary count_keys(db::OrgStore& org, Timestamp now, Timestamp until);

rules::EndpointCounts count_endpoints_by_state(db::OrgStore& org);
rules::ConnectionCounts count_connections_of(db::OrgStore& org);
// Counted up to `most` each.
rules::ArticleCounts count_articles_by_status(db::OrgStore& org, Timestamp now, std::int64_t most);
// Of all campaigns, from the day `first_day` on, for kSummarizedAdDays days.
rules::AdTotals sum_ad_days(db::OrgStore& org, std::int64_t first_day);

}  // namespace muster::store
