// Which ad a visitor is shown (docs/engagement.md "Ads"): whom a campaign is for, how fast it may
// spend its budget of the day, and a choice by weight among the rest. Pure: clock and chance are
// given.
#pragma once

#include "rules/ads/ads.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::rules {

// An active campaign with the creatives that fit the slot.
struct AdCandidate {
    CampaignId campaign;
    std::int64_t weight = 1;
    std::optional<std::int64_t> daily_impressions;
    std::optional<std::int64_t> frequency_cap;
    Timestamp starts_at;
    std::optional<Timestamp> ends_at;
    std::optional<Targeting> targeting;  // nullopt: it could not be read, and is for nobody
    std::vector<AdCreative> creatives;
};

// What is known of whoever looks at the page.
struct AdVisitor {
    std::optional<MemberId> member;
    std::optional<std::string> country;
    std::optional<std::string> locale;
    std::vector<std::string> tags;  // of the page
    std::string attributes;         // the member's document (rules/attributes.hpp); "" = none
    std::map<CampaignId, std::int64_t> shown;  // to the member today
};

// A number below `bound` (1 or more), each as likely as any other.
using AdChance = std::function<std::uint64_t(std::uint64_t bound)>;

// Whether all that the targeting names holds. What is not known of the visitor does not hold.
[[nodiscard]] bool is_for(const Targeting& targeting, const AdVisitor& visitor);

// How many of a day's `budget` may have been handed out by `now`: in step with the part of this day
// (UTC) that has passed of the campaign's time, and a hundredth (one at least) ahead of it.
[[nodiscard]] std::int64_t paced_budget(std::int64_t budget, Timestamp starts_at,
                                        std::optional<Timestamp> ends_at, Timestamp now);

// Those that may be shown to the visitor now, as far as their budgets have room.
[[nodiscard]] std::vector<const AdCandidate*> showable(std::span<const AdCandidate> candidates,
                                                       const AdVisitor& visitor, Timestamp now);

// The place of one of them (there is one), by their weights.
[[nodiscard]] std::size_t draw_by_weight(std::span<const AdCandidate* const> candidates,
                                         const AdChance& chance);

// How many servings of a day's budget are reserved at once: a thousandth, 100 at most. What a
// worker has reserved and does not hand out is lost to the campaign.
[[nodiscard]] std::int64_t reserved_at_once(std::int64_t budget);

}  // namespace muster::rules
