// Ad creatives: what a campaign shows.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <vector>

namespace muster::store {

// Of a locked campaign, as they are now.
std::int64_t count_ad_creatives(db::OrgStore& org, CampaignId campaign);
void insert_ad_creative(db::OrgStore& org, const rules::AdCreative& creative);
std::optional<rules::AdCreative> find_ad_creative(db::OrgStore& org, CreativeId id);
// Locked until the transaction ends.
std::optional<rules::AdCreative> lock_ad_creative(db::OrgStore& org, CreativeId id);
// By id behind `after`, of all campaigns or of one.
std::vector<rules::AdCreative> page_ad_creatives(db::OrgStore& org, CreativeId after, int limit);
std::vector<rules::AdCreative> page_ad_creatives(db::OrgStore& org, CampaignId campaign,
                                                 CreativeId after, int limit);
// Writes all of a locked creative that can change.
void update_ad_creative(db::OrgStore& org, const rules::AdCreative& creative);
void delete_ad_creative(db::OrgStore& org, CreativeId id);

}  // namespace muster::store
