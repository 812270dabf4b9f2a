// The event types of webhooks (docs/webhooks.md "Event types"): Muster's canonical types, and the
// types that a module defines below its slug.
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
inline constexpr std::string_view kInstallationChanged = "installation.changed";
inline constexpr std::string_view kEndpointDisabled = "webhook_endpoint.disabled";
inline constexpr std::string_view kBacklogDropped = "webhook_endpoint.backlog_dropped";
// Sent to one endpoint at the request of an admin. Endpoints cannot subscribe to it.
inline constexpr std::string_view kEndpointTest = "webhook_endpoint.test";
}  // namespace event_type

// The types that an endpoint can subscribe to without any module.
inline constexpr std::array kCanonicalEventTypes = {
    event_type::kMemberCreated,        event_type::kMemberAttached,
    event_type::kMemberUpdated,        event_type::kMemberLocked,
    event_type::kMemberUnlocked,       event_type::kMemberRemoved,
    event_type::kEngagementRecorded,   event_type::kInstallationEnabled,
    event_type::kInstallationDisabled, event_type::kInstallationChanged,
    event_type::kEndpointDisabled,     event_type::kBacklogDropped};

inline constexpr std::size_t kLongestEventType = 128;

// ^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$, at most 128 characters.
[[nodiscard]] bool is_event_type(std::string_view text);

// The part before the first dot: "member" of "member.created".
[[nodiscard]] std::string_view first_word(std::string_view type);

// The first word of the types of a module with this slug: the slug with _ for -.
[[nodiscard]] std::string emitted_word(std::string_view slug);

// True for a canonical type, and for a well-formed type of a module. The first word of a module's
// type must differ from Muster's first words, so the mistyped "member.udpated" is rejected.
[[nodiscard]] bool can_subscribe_to(std::string_view type);

// True if no module with this slug could emit an event, because the first word of its types is one
// of Muster's.
[[nodiscard]] bool is_reserved_slug(std::string_view slug);

// True if a module with this slug may emit the type: "<slug with - as _>.…", and no type of
// Muster's.
[[nodiscard]] bool can_emit(std::string_view slug, std::string_view type);

}  // namespace muster::rules
