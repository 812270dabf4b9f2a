// Why a campaign shows no ads (docs/ads.md "Figures of all campaigns").
#pragma once

#include "rules/ads/ads.hpp"

#include <compare>
#include <set>
#include <vector>

namespace muster::rules {

enum class AdObstacle : std::uint8_t {
    Paused,
    NotBegun,
    Ended,
    NoCreative,
    NoFittingCreative,
    BudgetSpent,
    AheadOfPace
};

struct AdSize {
    std::int64_t width = 0;
    std::int64_t height = 0;
    auto operator<=>(const AdSize&) const = default;
};

// The sizes of a campaign's slots, one for each slot, and those of its creatives.
struct AdSizes {
    std::vector<AdSize> slots;
    std::set<AdSize> creatives;
};

// The number of slots without a creative of their size.
[[nodiscard]] std::int64_t slots_without_creative(const AdSizes& sizes);

// All reasons why the campaign shows no ad to any visitor now; empty if it may show one.
// `today`: the counts of today. Servings without an impression return to the budget, so impressions
// decide.
[[nodiscard]] std::vector<AdObstacle> obstacles_of(const AdCampaign& campaign, const AdSizes& sizes,
                                                   const AdCounts& today, Timestamp now);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::AdObstacle> = {
    Name{rules::AdObstacle::Paused, "paused"},
    Name{rules::AdObstacle::NotBegun, "not_begun"},
    Name{rules::AdObstacle::Ended, "ended"},
    Name{rules::AdObstacle::NoCreative, "no_creative"},
    Name{rules::AdObstacle::NoFittingCreative, "no_fitting_creative"},
    Name{rules::AdObstacle::BudgetSpent, "budget_spent"},
    Name{rules::AdObstacle::AheadOfPace, "ahead_of_pace"}};

}  // namespace muster
