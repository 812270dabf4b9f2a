// Keys for use in web pages (specification 5 rule 7, docs/engagement.md "Publishable keys"). They
// are public, so they work only from the origins in their list (rules/origins.hpp).
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

enum class PublishableKeyKind : std::uint8_t { Tracking, Content };

// The prefix of a key's token (specification 5).
constexpr std::string_view prefix_of(PublishableKeyKind kind) {
    return kind == PublishableKeyKind::Tracking ? "ek_live_" : "ck_live_";
}

struct PublishableKey {
    OrgId organization_id;
    PublishableKeyId id;
    PublishableKeyKind kind = PublishableKeyKind::Tracking;
    std::string name;
    std::string token;                            // ek_live_… or ck_live_…, in clear
    std::vector<std::string> allowed_origins;     // canonical
    std::optional<std::int64_t> rate_per_second;  // nullopt: the installation's default
    std::optional<std::int64_t> burst;
    std::optional<AdminId> created_by;
    std::optional<std::string> created_by_email;  // set only when a key is shown
    Timestamp created_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> revoked_at;

    bool operator==(const PublishableKey&) const = default;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::PublishableKeyKind> = {
    Name{rules::PublishableKeyKind::Tracking, "tracking"},
    Name{rules::PublishableKeyKind::Content, "content"}};

}  // namespace muster
