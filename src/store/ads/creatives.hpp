// The creatives of ad campaigns.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <vector>

namespace muster::store {

// For a locked campaign: the current number.
std::int64_t count_ad_creatives(db::OrgStore& org, CampaignId campaign);
void insert_ad_creative(db::OrgStore& org, const rules::AdCreative& creative);
std::optional<rules::AdCreative> find_ad_creative(db::OrgStore& org, CreativeId id);
// Locked until the transaction ends.
std::optional<rules::AdCreative> lock_ad_creative(db::OrgStore& org, CreativeId id);
// Ordered by id, after `after`, for all campaigns or for one.
std::vector<rules::AdCreative> page_ad_creatives(db::OrgStore& org, CreativeId after, int limit);
std::vector<rules::AdCreative> page_ad_creatives(db::OrgStore& org, CampaignId campaign,
                                                 CreativeId after, int limit);
// Writes all fields of a locked creative that can change.
void update_ad_creative(db::OrgStore& org, const rules::AdCreative& creative);
void delete_ad_creative(db::OrgStore& org, CreativeId id);

}  // namespace muster::store
