// Ad campaigns, their slots, and their daily counts.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::store {

// The number of campaigns of the organization, whose rows are locked: another count waits until the
// transaction ends.
std::int64_t lock_and_count_ad_campaigns(db::OrgStore& org);
// Does not insert its slots.
void insert_ad_campaign(db::OrgStore& org, const rules::AdCampaign& campaign);
// Does not read its slots.
std::optional<rules::AdCampaign> find_ad_campaign(db::OrgStore& org, CampaignId id);
// The same, locked until the transaction ends.
std::optional<rules::AdCampaign> lock_ad_campaign(db::OrgStore& org, CampaignId id);
// Ordered by id, after `after`, without their slots.
std::vector<rules::AdCampaign> page_ad_campaigns(db::OrgStore& org, CampaignId after, int limit);
// Writes all fields of a locked campaign that can change, except its slots.
void update_ad_campaign(db::OrgStore& org, const rules::AdCampaign& campaign);
// Also deletes its creatives and counts.
void delete_ad_campaign(db::OrgStore& org, CampaignId id);

// Fills in the slot_ids.
void read_slots_of_campaigns(db::OrgStore& org, std::span<rules::AdCampaign> campaigns);
// `slots`: one or more slots, locked by the caller.
void insert_campaign_slots(db::OrgStore& org, CampaignId id, std::span<const SlotId> slots);
void delete_campaign_slots(db::OrgStore& org, CampaignId id);

// Ordered by day, from `first_day`, without days that have no counts.
std::vector<rules::AdDay> list_ad_days(db::OrgStore& org, CampaignId id, std::int64_t first_day);

}  // namespace muster::store
