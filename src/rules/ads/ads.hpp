// Ads (docs/ads.md "Ads"): slots on pages, the campaigns that run in them, and the creatives
// of the campaigns. Defines their limits, the validation of their fields, and targeting.
#pragma once

#include "base/faults.hpp"
#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

class AttributeRegistry;

using muster::text_of;

inline constexpr std::int64_t kMostSlots = 200;
inline constexpr std::int64_t kMostCampaigns = 500;
inline constexpr std::int64_t kMostCampaignsInSlot = 100;
inline constexpr std::int64_t kMostCreatives = 20;  // per campaign
inline constexpr std::int64_t kLargestSide = 10'000;
inline constexpr std::int64_t kHeaviestWeight = 1000;
inline constexpr std::int64_t kMostDailyImpressions = 1'000'000'000;
inline constexpr std::int64_t kHighestFrequencyCap = 1000;
inline constexpr std::size_t kMostAdHtml = 65'536;  // bytes
inline constexpr std::size_t kMostAdTags = 20;
inline constexpr std::size_t kLongestAdTag = 64;
inline constexpr std::size_t kLongestLocale = 35;

enum class CampaignStatus : std::uint8_t { Active, Paused };

enum class CreativeKind : std::uint8_t { Image, Html };

struct AdSlot {
    OrgId organization_id;
    SlotId id;
    std::string slug;
    std::string name;
    std::int64_t width = 0;
    std::int64_t height = 0;
    Timestamp created_at;
    Timestamp updated_at;

    bool operator==(const AdSlot&) const = default;
};

// The visitors that a campaign addresses. Every list that is not empty must match with one entry;
// every attribute must match.
struct Targeting {
    std::vector<std::string> countries;  // ISO 3166-1 alpha-2
    std::vector<std::string> locales;    // "en" also matches "en-GB"
    std::vector<std::string> tags;
    std::string attributes = "{}";  // JSON: key → string, number or boolean

    // Of the attributes, the values count: 5 is 5.0, and keys may have any order.
    bool operator==(const Targeting& other) const;
};

struct AdCampaign {
    OrgId organization_id;
    CampaignId id;
    std::string name;
    std::vector<SlotId> slot_ids;  // ascending
    CampaignStatus status = CampaignStatus::Active;
    Timestamp starts_at;
    std::optional<Timestamp> ends_at;
    std::int64_t weight = 1;
    std::optional<std::int64_t> daily_impressions;  // per day (UTC); nullopt: no budget
    std::optional<std::int64_t> frequency_cap;      // per member and day (UTC)
    Targeting targeting;
    Timestamp created_at;
    Timestamp updated_at;

    bool operator==(const AdCampaign&) const = default;
};

struct AdCreative {
    OrgId organization_id;
    CreativeId id;
    CampaignId campaign_id;
    CreativeKind kind = CreativeKind::Image;
    std::optional<std::string> image_url;
    std::optional<std::string> html;  // sanitized
    std::optional<std::string> alt;
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::string landing_url;
    Timestamp created_at;
    Timestamp updated_at;

    bool operator==(const AdCreative&) const = default;
};

// The counts of a campaign for one day.
struct AdDay {
    std::string date;  // YYYY-MM-DD, UTC
    std::int64_t impressions = 0;
    std::int64_t clicks = 0;
};

// The figures of a campaign for its day, with the servings that its budget counts.
struct AdCounts {
    std::int64_t served = 0;
    std::int64_t impressions = 0;
    std::int64_t clicks = 0;
};

// Days (UTC) since 1970.
constexpr std::int64_t ad_day_of(Timestamp when) {
    return when.milliseconds() / Milliseconds(std::chrono::days(1)).count();
}
[[nodiscard]] std::string date_of_ad_day(std::int64_t day);

// [a-z][a-z0-9-]{1,62}
[[nodiscard]] bool is_slot_slug(std::string_view text);

// Adds faults that concern several fields or the registry: an end before the start, duplicates in a
// list, tags with a comma, attributes that are not enabled, values that an attribute cannot have.
void validate_campaign(const AdCampaign& campaign, Faults& faults);
void validate_targeting(const Targeting& targeting, const AttributeRegistry& registry,
                        Faults& faults);
// An image needs its URL and must not have html; an HTML creative needs html and must not have a
// URL.
void validate_creative(const AdCreative& creative, Faults& faults);

// The form in which the campaign's row stores it. "{}" matches every visitor.
[[nodiscard]] std::string targeting_document(const Targeting& targeting);
// The attributes of a targeting as they are stored: texts are trimmed and composed, as in a
// member's payload.
[[nodiscard]] std::string normalized_attributes(const std::string& document);
// nullopt if the text is not a targeting document.
[[nodiscard]] std::optional<Targeting> targeting_of(std::string_view document);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::CampaignStatus> = {
    Name{rules::CampaignStatus::Active, "active"}, Name{rules::CampaignStatus::Paused, "paused"}};

template <>
inline constexpr std::array kNames<rules::CreativeKind> = {
    Name{rules::CreativeKind::Image, "image"}, Name{rules::CreativeKind::Html, "html"}};

}  // namespace muster
