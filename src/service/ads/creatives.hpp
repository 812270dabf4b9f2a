// Creatives of ad campaigns that admins manage in the console (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"
#include "service/versions.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct NewAdCreative {
    CampaignId campaign_id;
    rules::CreativeKind kind = rules::CreativeKind::Image;
    std::optional<std::string> image_url;
    std::optional<std::string> html;  // before it is sanitized
    std::optional<std::string> alt;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::string landing_url;
};
struct AdCreativeChange {
    std::optional<rules::CreativeKind> kind;
    std::optional<std::optional<std::string>> image_url;
    std::optional<std::optional<std::string>> html;
    std::optional<std::optional<std::string>> alt;
    std::optional<std::int64_t> width;
    std::optional<std::int64_t> height;
    std::optional<std::string> landing_url;
};

// Creates a creative and sanitizes its HTML. Throws VALIDATION_ERROR with all faults, including a
// campaign that the organization does not have, and INVALID_STATE if the campaign has reached its
// maximum number of creatives.
rules::AdCreative create_ad_creative(OrgTransaction& transaction, const NewAdCreative& fields);
// At most `limit` creatives with an id greater than `after`, ordered by id: of one campaign or of
// all. The list is empty if the organization does not have the campaign.
std::vector<rules::AdCreative> list_ad_creatives(Context& context, OrgId organization,
                                                 std::optional<CampaignId> campaign,
                                                 std::optional<CreativeId> after, int limit);
// Throws NOT_FOUND.
rules::AdCreative read_ad_creative(Context& context, OrgId organization, CreativeId id);
// Changes a creative. `updated_at` changes only if a value does. Throws NOT_FOUND, VALIDATION_ERROR
// with all faults, and what `check` throws.
rules::AdCreative change_ad_creative(OrgTransaction& transaction, CreativeId id,
                                     const AdCreativeChange& change,
                                     const VersionCheck& check = {});
// Throws NOT_FOUND, and what `check` throws.
void delete_ad_creative(OrgTransaction& transaction, CreativeId id, const VersionCheck& check = {});

}  // namespace muster::service
