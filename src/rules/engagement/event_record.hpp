// The JSON form of an engagement event in the API and in webhooks.
#pragma once

#include "base/record.hpp"
#include "rules/engagement/events.hpp"

namespace muster::rules {

// Specification 2.10. Metadata is any JSON.
inline constexpr auto kEngagementEvent = record<EngagementEvent>(
    "EngagementEvent", field<&EngagementEvent::id>("id", "Id of the event."),
    field<&EngagementEvent::member_id>("member_id", "Id of the member; null for a visitor."),
    field<&EngagementEvent::member_external_id>(
        "member_external_id", "external_id of the member; null if there is none.", "C-1001"),
    field<&EngagementEvent::user_id>("user_id", "Id of the user; null for a visitor."),
    field<&EngagementEvent::source>(
        "source", "tracked: reported by a page with a public key; signed: ingested by a module."),
    field<&EngagementEvent::type>(
        "type", "Event type that the module gave; null for a tracked event.", "shop.order_paid"),
    field<&EngagementEvent::action>("action", "What the member did.", "ticket_bought"),
    field<&EngagementEvent::tags>("tags", "Tags for reports.", R"(["cup"])")
        .of(JsonType<std::vector<std::string>>::schema),
    field<&EngagementEvent::metadata>("metadata",
                                      "Any JSON, with numbers as sent; null if none was sent.")
        .of(any_json),
    field<&EngagementEvent::client_event_id>(
        "client_event_id", "The sender's id of the event; null if none was sent.", "order-1001"),
    field<&EngagementEvent::occurred_at>("occurred_at", "Time of the event."),
    field<&EngagementEvent::received_at>("received_at", "Time when Muster stored the event."),
    field<&EngagementEvent::geo_country>(
        "geo_country", "Country of the client's address; null if unknown or ingested.", "GB"),
    field<&EngagementEvent::geo_region>(
        "geo_region", "Region of the client's address; null if unknown or ingested.", "ENG"));

// The same with the visitor: for the organization's own list. Webhooks and the list of a member do
// not show visitors.
inline constexpr auto kRecentEvent = extended(
    kEngagementEvent, "RecentEngagementEvent",
    field<&EngagementEvent::anonymous_id>(
        "anonymous_id", "The page's id of the visitor; null if none was sent, and for a member.",
        "v-7f3a"));

inline constexpr auto kEventCounts = record<EventCounts>(
    "EventCounts", field<&EventCounts::accepted>("accepted", "Number of events that were stored."),
    field<&EventCounts::duplicates>("duplicates",
                                    "Number of events whose client_event_id was stored before."));

}  // namespace muster::rules
