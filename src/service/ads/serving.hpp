// Ads on pages (docs/ads.md "Ads"): which one a visitor is shown, and what comes back by the
// tokens that were handed out with it.
#pragma once

#include "rules/ads/choice.hpp"
#include "service/ads/serving_cache.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

struct AdQuestion {
    std::string slot;  // its slug
    std::optional<UserId> user;
    std::optional<std::string> locale;  // nullopt: the member's
    std::vector<std::string> tags;
    std::optional<std::string> geo_country;  // nullopt: the member's
};

struct ServedAd {
    rules::AdCreative creative;  // without its landing page
    std::string impression_token;
    std::string click_token;
};

// nullopt: nothing fits. A user whom the organization does not have is a visitor like any other.
// Budgets and caps are counted before an ad is handed out. Throws NOT_FOUND for an unknown slot.
std::optional<ServedAd> serve_ad(Context& context, AdServingCache& cache, OrgId organization,
                                 const AdQuestion& question, Timestamp now,
                                 const rules::AdChance& chance);

// Random numbers for serve_ad().
std::uint64_t ad_chance(std::uint64_t bound);

// Whether the request is a person's, or one that only looks (HEAD).
enum class Counting : std::uint8_t { Counts, Looks };

// False for a token that nobody handed out. A good one counts the first time that it comes back,
// and not once it has expired.
bool redeem_impression(Context& context, const AdServingCache& cache, std::string_view token,
                       Counting counting);
// The creative's landing page, whether the click counts or not. Throws NOT_FOUND for a token that
// nobody handed out, and for a creative that is gone.
std::string redeem_click(Context& context, const AdServingCache& cache, std::string_view token,
                         Counting counting);

}  // namespace muster::service
