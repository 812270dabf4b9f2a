// The choice of an ad for a visitor (docs/ads.md "Ads"): targeting, pacing of the daily
// budget, and a weighted random choice. Pure functions; the caller passes the time and the random
// numbers.
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
    std::optional<Targeting> targeting;  // nullopt: it could not be read and matches no visitor
    std::vector<AdCreative> creatives;
};

// The known facts about a visitor of the page.
struct AdVisitor {
    std::optional<MemberId> member;
    std::optional<std::string> country;
    std::optional<std::string> locale;
    std::vector<std::string> tags;  // of the page
    std::string attributes;         // the member's document (rules/attributes.hpp); "" = none
    std::map<CampaignId, std::int64_t> shown;  // to the member today
};

// Returns a random number below `bound` (1 or more), uniformly distributed.
using AdChance = std::function<std::uint64_t(std::uint64_t bound)>;

// The part of a day's `budget` that may be served by `now`: proportional to the elapsed part of the
// campaign's time on this day (UTC), plus one hundredth of the budget (at least one).
[[nodiscard]] std::int64_t paced_budget(std::int64_t budget, Timestamp starts_at,
                                        std::optional<Timestamp> ends_at, Timestamp now);

// The candidates that may be shown to the visitor now, before their budgets are checked. All
// conditions of the targeting must match; an unknown fact about the visitor does not match.
[[nodiscard]] std::vector<const AdCandidate*> eligible_candidates(
    std::span<const AdCandidate> candidates, const AdVisitor& visitor, Timestamp now);

// The index of a candidate, chosen at random by weight. `candidates` must not be empty.
[[nodiscard]] std::size_t draw_by_weight(std::span<const AdCandidate* const> candidates,
                                         const AdChance& chance);

// Servings without an impression return to the budget at most once in this time.
inline constexpr Milliseconds kUnseenAfter = std::chrono::minutes(1);

// The number of servings of a day's budget that a worker reserves at once: a thousandth, at least 1
// and at most 100. Those without an impression return to the budget, also while the worker may
// still serve them.
[[nodiscard]] std::int64_t reserved_at_once(std::int64_t budget);

}  // namespace muster::rules
