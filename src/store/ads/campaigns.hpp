// Ad campaigns, the slots that they run in, and what came back of them by day.
#pragma once

#include "db/transaction.hpp"
#include "rules/ads/ads.hpp"

#include <optional>
#include <span>
#include <vector>

namespace muster::store {

// How many the organization has; nobody adds one until the transaction ends.
std::int64_t count_ad_campaigns_for_adding(db::OrgStore& org);
// Without its slots.
void insert_ad_campaign(db::OrgStore& org, const rules::AdCampaign& campaign);
// Without its slots.
std::optional<rules::AdCampaign> find_ad_campaign(db::OrgStore& org, CampaignId id);
// The same, locked until the transaction ends.
std::optional<rules::AdCampaign> lock_ad_campaign(db::OrgStore& org, CampaignId id);
// By id behind `after`, without their slots.
std::vector<rules::AdCampaign> page_ad_campaigns(db::OrgStore& org, CampaignId after, int limit);
// Writes all of a locked campaign that can change, save its slots.
void update_ad_campaign(db::OrgStore& org, const rules::AdCampaign& campaign);
// With its creatives and counts.
void delete_ad_campaign(db::OrgStore& org, CampaignId id);

// Fills in the slot_ids.
void read_slots_of_campaigns(db::OrgStore& org, std::span<rules::AdCampaign> campaigns);
// `slots`: 1 or more, locked.
void insert_campaign_slots(db::OrgStore& org, CampaignId id, std::span<const SlotId> slots);
void delete_campaign_slots(db::OrgStore& org, CampaignId id);

// From that day on, by day; those without a figure are left out.
std::vector<rules::AdDay> list_ad_days(db::OrgStore& org, CampaignId id, std::int64_t first_day);

}  // namespace muster::store
