// Serves ads on pages and redeems the tokens that are returned with them (docs/ads.md
// "Ads").
#pragma once

#include "rules/ads/choice.hpp"
#include "rules/ads/token.hpp"
#include "service/ads/serving_cache.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

struct AdRequest {
    std::string slot;  // the slug
    std::optional<UserId> user;
    std::optional<std::string> locale;  // nullopt: the member's
    std::vector<std::string> tags;
    std::optional<std::string> geo_country;  // nullopt: the member's
};

struct ServedAd {
    rules::AdCreative creative;  // without `landing_url`
    std::string impression_token;
    std::string click_token;
};

// Chooses an ad, or returns nullopt if no campaign matches. A user that the organization does not
// have is treated as an anonymous visitor. Budgets and caps are counted before the ad is returned.
// Throws NOT_FOUND for an unknown slot.
std::optional<ServedAd> serve_ad(Context& context, AdServingCache& cache, OrgId organization,
                                 const AdRequest& ad_request, Timestamp now,
                                 const rules::AdChance& chance);

// A random number below `bound`, for serve_ad().
std::uint64_t ad_chance(std::uint64_t bound);

// Whether a redemption is counted. A HEAD request, a prefetch and a request above the rate are not.
enum class Counting : std::uint8_t { Count, Skip };

// The organization that served the ad; nullopt if the token is not authentic.
std::optional<OrgId> organization_of_token(const AdServingCache& cache, rules::AdTokenKind kind,
                                           std::string_view token);

// Redeems an impression token. Returns false if the token is not authentic. An authentic token
// counts the first time it is redeemed, unless it has expired.
bool redeem_impression(Context& context, const AdServingCache& cache, std::string_view token,
                       Counting counting);
// Redeems a click token and returns the landing page of the creative, whether or not the click
// counts. Throws NOT_FOUND if the token is not authentic or the creative was deleted.
std::string redeem_click(Context& context, const AdServingCache& cache, std::string_view token,
                         Counting counting);

}  // namespace muster::service
