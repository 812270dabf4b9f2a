#include "rules/ads/obstacles.hpp"

#include "rules/ads/choice.hpp"

#include <algorithm>

namespace muster::rules {

std::int64_t slots_without_creative(const AdSizes& sizes) {
    return std::count_if(sizes.slots.begin(), sizes.slots.end(),
                         [&](const AdSize& slot) { return !sizes.creatives.contains(slot); });
}

std::vector<AdObstacle> obstacles_of(const AdCampaign& campaign, const AdSizes& sizes,
                                     const AdCounts& today, Timestamp now) {
    std::vector<AdObstacle> found;
    const auto add_if = [&](bool is_true, AdObstacle obstacle) {
        if (is_true) found.push_back(obstacle);
    };
    add_if(campaign.status == CampaignStatus::Paused, AdObstacle::Paused);
    const bool is_begun = campaign.starts_at <= now;
    const bool is_ended = campaign.ends_at && *campaign.ends_at <= now;
    add_if(!is_begun, AdObstacle::NotBegun);
    add_if(is_ended, AdObstacle::Ended);
    const auto slots = static_cast<std::int64_t>(sizes.slots.size());
    add_if(sizes.creatives.empty(), AdObstacle::NoCreative);
    add_if(!sizes.creatives.empty() && slots_without_creative(sizes) == slots,
           AdObstacle::NoFittingCreative);
    if (!campaign.daily_impressions || !is_begun || is_ended) return found;
    const std::int64_t budget = *campaign.daily_impressions;
    const bool is_spent = today.impressions >= budget;
    add_if(is_spent, AdObstacle::BudgetSpent);
    add_if(!is_spent &&
               today.impressions >= paced_budget(budget, campaign.starts_at, campaign.ends_at, now),
           AdObstacle::AheadOfPace);
    return found;
}

}  // namespace muster::rules
