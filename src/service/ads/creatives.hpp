// What ad campaigns show, made by admins in the console (docs/ads.md "Ads").
#pragma once

#include "rules/ads/ads.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct NewAdCreative {
    CampaignId campaign_id;
    rules::CreativeKind kind = rules::CreativeKind::Image;
    std::optional<std::string> image_url;
    std::optional<std::string> html;  // as it was sent
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

// html is sanitised. Throws VALIDATION_ERROR with every fault, a campaign that is not the
// organization's among them, and INVALID_STATE when the campaign has as many as it may.
rules::AdCreative create_ad_creative(OrgTransaction& transaction, const NewAdCreative& fields);
// By id behind `after`, at most `limit`; of one campaign, or of all. A campaign that the
// organization does not have has none.
std::vector<rules::AdCreative> list_ad_creatives(Context& context, OrgId organization,
                                                 std::optional<CampaignId> campaign,
                                                 std::optional<CreativeId> after, int limit);
// Throws NOT_FOUND.
rules::AdCreative read_ad_creative(Context& context, OrgId organization, CreativeId id);
// What changes nothing leaves updated_at alone. Throws NOT_FOUND, and as create_ad_creative() does.
rules::AdCreative change_ad_creative(OrgTransaction& transaction, CreativeId id,
                                     const AdCreativeChange& change);
// Throws NOT_FOUND.
void delete_ad_creative(OrgTransaction& transaction, CreativeId id);

}  // namespace muster::service
