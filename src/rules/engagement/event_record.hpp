// How the API and webhooks show an engagement event.
#pragma once

#include "base/record.hpp"
#include "rules/engagement/events.hpp"

namespace muster::rules {

// Specification 2.10. Metadata is any JSON.
inline constexpr auto kEngagementFields = std::array{
    field<&EngagementEvent::id>("id"),
    field<&EngagementEvent::member_id>("member_id"),
    field<&EngagementEvent::member_external_id>("member_external_id"),
    field<&EngagementEvent::user_id>("user_id"),
    field<&EngagementEvent::action>("action"),
    field<&EngagementEvent::tags>("tags"),
    RecordField<EngagementEvent>{"metadata",
                                 [](JsonWriter& to, const EngagementEvent& event) {
                                     to.raw(event.metadata ? event.metadata->text : "null");
                                 },
                                 [] { return Json::Value(Json::objectValue); }},
    field<&EngagementEvent::client_event_id>("client_event_id"),
    field<&EngagementEvent::occurred_at>("occurred_at"),
    field<&EngagementEvent::received_at>("received_at"),
    field<&EngagementEvent::geo_country>("geo_country"),
    field<&EngagementEvent::geo_region>("geo_region"),
};
inline constexpr Record<EngagementEvent, kEngagementFields.size()> kEngagementEvent{
    "EngagementEvent", kEngagementFields};

inline constexpr auto kEventCounts =
    record<EventCounts>("EventCounts", field<&EventCounts::accepted>("accepted"),
                        field<&EventCounts::duplicates>("duplicates"));

}  // namespace muster::rules
