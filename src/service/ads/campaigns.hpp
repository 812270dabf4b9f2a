// Ad campaigns, made by admins in the console, and their figures (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct NewAdCampaign {
    std::string name;
    std::vector<SlotId> slot_ids;
    rules::CampaignStatus status = rules::CampaignStatus::Active;
    std::optional<Timestamp> starts_at;  // nullopt: now
    std::optional<Timestamp> ends_at;
    std::int64_t weight = 1;
    std::optional<std::int64_t> daily_impressions;
    std::optional<std::int64_t> frequency_cap;
    rules::Targeting targeting;
};
struct AdCampaignChange {
    std::optional<std::string> name;
    std::optional<std::vector<SlotId>> slot_ids;
    std::optional<rules::CampaignStatus> status;
    std::optional<Timestamp> starts_at;
    std::optional<std::optional<Timestamp>> ends_at;
    std::optional<std::int64_t> weight;
    std::optional<std::optional<std::int64_t>> daily_impressions;
    std::optional<std::optional<std::int64_t>> frequency_cap;
    std::optional<rules::Targeting> targeting;
};

// Throws VALIDATION_ERROR with every fault, a slot that is not the organization's among them, and
// INVALID_STATE when the organization or a slot has as many as it may.
rules::AdCampaign create_ad_campaign(OrgTransaction& transaction, const NewAdCampaign& fields);
// By id behind `after`, at most `limit`.
std::vector<rules::AdCampaign> list_ad_campaigns(Context& context, OrgId organization,
                                                 std::optional<CampaignId> after, int limit);
// Throws NOT_FOUND.
rules::AdCampaign read_ad_campaign(Context& context, OrgId organization, CampaignId id);
// What changes nothing leaves updated_at alone. Throws NOT_FOUND, and as create_ad_campaign() does.
rules::AdCampaign change_ad_campaign(OrgTransaction& transaction, CampaignId id,
                                     const AdCampaignChange& change);
// With its creatives and figures. Throws NOT_FOUND.
void delete_ad_campaign(OrgTransaction& transaction, CampaignId id);

// The last `days` days (UTC), today's among them, the earliest first; those without a figure are
// left out. Throws NOT_FOUND.
std::vector<rules::AdDay> list_ad_days(Context& context, OrgId organization, CampaignId id,
                                       int days);

}  // namespace muster::service
