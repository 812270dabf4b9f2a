// Figures of several campaigns at once, and the sizes that decide whether they can be shown.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/obstacles.hpp"

#include <map>
#include <span>

namespace muster::store {

using CountsByDay = std::map<std::int64_t, rules::AdCounts>;

// The counts of the campaigns from `first_day` on. A campaign or day without counts is absent.
std::map<CampaignId, CountsByDay> read_ad_counts(db::OrgStore& org,
                                                 std::span<const CampaignId> campaigns,
                                                 std::int64_t first_day);
// The sizes of the campaigns' slots and creatives.
std::map<CampaignId, rules::AdSizes> read_ad_sizes(db::OrgStore& org,
                                                   std::span<const CampaignId> campaigns);

}  // namespace muster::store
