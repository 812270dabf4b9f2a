// Ad campaigns that admins manage in the console, and their figures (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

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
    std::optional<std::string> name = {};
    std::optional<std::vector<SlotId>> slot_ids = {};
    std::optional<rules::CampaignStatus> status = {};
    std::optional<Timestamp> starts_at = {};
    std::optional<std::optional<Timestamp>> ends_at = {};
    std::optional<std::int64_t> weight = {};
    std::optional<std::optional<std::int64_t>> daily_impressions = {};
    std::optional<std::optional<std::int64_t>> frequency_cap = {};
    std::optional<rules::Targeting> targeting = {};
};

// Creates a campaign. Throws VALIDATION_ERROR with all faults, including slots that the
// organization does not have, and INVALID_STATE if the organization or a slot has reached its
// maximum number of campaigns.
rules::AdCampaign create_ad_campaign(OrgTransaction& transaction, const NewAdCampaign& fields);
// At most `limit` campaigns with an id greater than `after`, ordered by id.
std::vector<rules::AdCampaign> list_ad_campaigns(Context& context, OrgId organization,
                                                 std::optional<CampaignId> after, int limit);
// Throws NOT_FOUND.
rules::AdCampaign read_ad_campaign(Context& context, OrgId organization, CampaignId id);
// Changes a campaign. `updated_at` changes only if a value does. Throws NOT_FOUND, and the same
// errors as create_ad_campaign().
rules::AdCampaign change_ad_campaign(OrgTransaction& transaction, CampaignId id,
                                     const AdCampaignChange& change,
                                     const VersionCheck& check = {});
// Deletes a campaign with its creatives and figures. Throws NOT_FOUND.
void delete_ad_campaign(OrgTransaction& transaction, CampaignId id, const VersionCheck& check = {});

// The figures of the last `days` UTC days including today, oldest first. Days without figures are
// omitted. Throws NOT_FOUND.
std::vector<rules::AdDay> list_ad_days(Context& context, OrgId organization, CampaignId id,
                                       int days);

}  // namespace muster::service
