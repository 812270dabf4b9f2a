// The figures of all campaigns at once, and why a campaign shows nothing (docs/ads.md "Figures of
// all campaigns").
#pragma once

#include "rules/ads/obstacles.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

inline constexpr int kMostFigureDays = 31;

struct AdCampaignFigures {
    CampaignId id;
    std::string name;
    rules::CampaignStatus status = rules::CampaignStatus::Active;
    std::optional<std::int64_t> daily_impressions;
    std::optional<std::int64_t> served_today;  // nullopt without daily_impressions: not counted
    std::int64_t impressions = 0;              // the sum over `days`
    std::int64_t clicks = 0;                   // the same
    std::int64_t slots_without_creative = 0;
    std::vector<rules::AdObstacle> not_shown_because;
    std::vector<rules::AdDay> days;  // each day, oldest first
};

// The figures of the last `days` UTC days including today, of at most `limit` campaigns with an id
// greater than `after`, ordered by id.
std::vector<AdCampaignFigures> list_ad_figures(Context& context, OrgId organization,
                                               std::optional<CampaignId> after, int days,
                                               int limit);

}  // namespace muster::service
