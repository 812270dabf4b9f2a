// The signed tokens in an ad's impression and click URLs (docs/ads.md "Ads"). They prove
// that Muster served the ad. The target of a click is not part of a token.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

enum class AdTokenKind : std::uint8_t { Impression = 1, Click = 2 };

inline constexpr Milliseconds kAdTokenLife = std::chrono::days(1);

struct AdToken {
    AdTokenKind kind = AdTokenKind::Impression;
    OrgId organization;
    ServingId serving;
    CampaignId campaign;
    CreativeId creative;
    Timestamp expires_at;

    bool operator==(const AdToken&) const = default;
};

// 142 characters of base64url: version, kind, ids, expiry, HMAC-SHA-256.
[[nodiscard]] std::string encode_ad_token(const Secret& key, const AdToken& token);
// nullopt unless encode_ad_token() returned the text for this kind under one of the keys. Does not
// check the expiry.
[[nodiscard]] std::optional<AdToken> decode_ad_token(std::span<const Secret> keys, AdTokenKind kind,
                                                     std::string_view text);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::AdTokenKind> = {
    Name{rules::AdTokenKind::Impression, "impression"}, Name{rules::AdTokenKind::Click, "click"}};

}  // namespace muster
