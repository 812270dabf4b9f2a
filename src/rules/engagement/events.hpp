// Engagement events, and the limits on every one of them (docs/api/limits.md "Limits").
#pragma once

#include "base/faults.hpp"
#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace muster::rules {

using muster::text_of;

// Whether the sender was authenticated: an ingested event is signed, a tracked one is not.
enum class EventSource : std::uint8_t { Tracked, Signed };

// Specification 2.10. The member's ids are those of the linked membership.
struct EngagementEvent {
    EventId id;
    std::optional<MemberId> member_id;
    std::optional<std::string> member_external_id;
    std::optional<UserId> user_id;
    EventSource source = EventSource::Tracked;
    std::optional<std::string> type;
    std::string action;
    RawJson tags{"[]"};  // an array of texts
    std::optional<RawJson> metadata;
    std::optional<std::string> client_event_id;
    Timestamp occurred_at;
    Timestamp received_at;
    std::optional<std::string> geo_country;
    std::optional<std::string> geo_region;
    // Of a visitor, if no member is named. Shown in the organization's list only.
    std::optional<std::string> anonymous_id;
};

// What events take in the database: an event takes about 350 bytes in addition to its texts,
// indexes included (docs/scale.md "Sizes").
inline std::int64_t stored_bytes(std::span<const EngagementEvent> events) {
    const auto size_of = [](const auto& text) { return text ? text->size() : 0; };
    std::size_t bytes = 0;
    for (const EngagementEvent& event : events) {
        bytes += 350 + event.action.size() + event.tags.text.size() + size_of(event.type) +
                 (event.metadata ? event.metadata->text.size() : 0) +
                 size_of(event.client_event_id) + size_of(event.geo_region) +
                 size_of(event.anonymous_id);
    }
    return static_cast<std::int64_t>(bytes);
}

// The counts of stored events for one request.
struct EventCounts {
    std::int64_t accepted = 0;    // newly stored
    std::int64_t duplicates = 0;  // client_event_id already exists in its space
};

// The organization's list shows events that were received in this time.
inline constexpr Milliseconds kRecentEvents = std::chrono::days(1);

inline constexpr std::size_t kMostMetadataBytes = 8192;
inline constexpr Milliseconds kMostAhead = std::chrono::days(1);
inline constexpr Milliseconds kMostBehind = std::chrono::days(30);

// `prefix`: the path of the event, "events[3]." or "".
inline void validate_event(const std::optional<RawJson>& metadata,
                           const std::optional<Timestamp>& occurred_at, Timestamp now,
                           const std::string& prefix, Faults& faults) {
    if (metadata && metadata->text.size() > kMostMetadataBytes) {
        faults.add(prefix + "metadata", FieldCode::TooLong, longest(kMostMetadataBytes));
    }
    const Timestamp when = occurred_at.value_or(now);
    const bool is_outside = when > now + kMostAhead || when < now - kMostBehind;
    // An unreadable time already has a fault.
    if (is_outside && !faults.contains(prefix + "occurred_at")) {
        faults.add(prefix + "occurred_at", FieldCode::OutOfRange,
                   "is out of range; use a time from 30 days ago to tomorrow");
    }
}

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::EventSource> = {
    Name{rules::EventSource::Tracked, "tracked"}, Name{rules::EventSource::Signed, "signed"}};

}  // namespace muster
