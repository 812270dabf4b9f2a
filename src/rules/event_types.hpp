// The types of the events that webhooks carry (docs/modules.md "Event types"): Muster's own, the
// canonical ones, and those that a module names below its slug.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace muster::rules {

namespace event_type {
inline constexpr std::string_view kMemberCreated = "member.created";
inline constexpr std::string_view kMemberAttached = "member.attached";
inline constexpr std::string_view kMemberUpdated = "member.updated";
inline constexpr std::string_view kMemberLocked = "member.locked";
inline constexpr std::string_view kMemberUnlocked = "member.unlocked";
inline constexpr std::string_view kMemberRemoved = "member.removed";
inline constexpr std::string_view kEngagementRecorded = "engagement.recorded";
inline constexpr std::string_view kInstallationEnabled = "installation.enabled";
inline constexpr std::string_view kInstallationDisabled = "installation.disabled";
inline constexpr std::string_view kEndpointDisabled = "webhook_endpoint.disabled";
// Sent to one endpoint alone, when an admin asks for it: nobody subscribes to it.
inline constexpr std::string_view kEndpointTest = "webhook_endpoint.test";
}  // namespace event_type

// What an endpoint may subscribe to without any module's doing.
inline constexpr std::array kCanonicalEventTypes = {
    event_type::kMemberCreated,        event_type::kMemberAttached,
    event_type::kMemberUpdated,        event_type::kMemberLocked,
    event_type::kMemberUnlocked,       event_type::kMemberRemoved,
    event_type::kEngagementRecorded,   event_type::kInstallationEnabled,
    event_type::kInstallationDisabled, event_type::kEndpointDisabled};

inline constexpr std::size_t kLongestEventType = 128;

// ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$, at most 128 characters.
[[nodiscard]] bool is_event_type(std::string_view text);

// Canonical, or of some module's making: well-formed, and its first word none that is Muster's, so
// that a mistyped "member.udpated" is no type.
[[nodiscard]] bool can_subscribe_to(std::string_view type);

// Whether a module of that slug may emit it: "<slug with - as _>.…", and never in Muster's name.
[[nodiscard]] bool can_emit(std::string_view slug, std::string_view type);

}  // namespace muster::rules
