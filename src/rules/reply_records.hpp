// How records look on the wire that the API answers and webhooks carry alike: said once, so that a
// partner who knows the one knows the other.
#pragma once

#include "base/record.hpp"
#include "rules/records.hpp"

namespace muster {

template <>
inline constexpr std::array kAllOf<rules::InstallationStatus> = {
    rules::InstallationStatus::Enabled, rules::InstallationStatus::Disabled,
    rules::InstallationStatus::Error};

}  // namespace muster

namespace muster::rules {

// ---------------------------------------------------------------------------- users

inline constexpr auto kUserFields = std::array{
    field<&Member::user_id>("id"),
    field<&Member::member_id>("member_id"),
    field<&Member::organization_id>("organization_id"),
    field<&Member::email>("email"),
    field<&Member::external_id>("external_id"),
    field<&Member::first_name>("first_name"),
    field<&Member::last_name>("last_name"),
    field<&Member::display_name>("display_name"),
    field<&Member::locale>("locale"),
    field<&Member::country>("country"),
    field<&Member::dob>("dob"),
    RecordField<Member>{
        "attributes",
        [](JsonWriter& to, const Member& member) { to.raw(attribute_values(member.attributes)); },
        Wire<RawJson>::schema},
    RecordField<Member>{"roles", [](JsonWriter& to, const Member&) { to.raw(R"(["member"])"); },
                        Wire<std::vector<std::string>>::schema},
    field<&Member::status>("status"),
    field<&Member::locked_at>("locked_at"),
    field<&Member::lock_reason>("lock_reason"),
    field<&Member::created_at>("created_at"),
    field<&Member::updated_at>("updated_at"),
};
inline constexpr Record<Member, kUserFields.size()> kUser{"User", kUserFields};

// A member who is gone, as the event tells it: enough to find the partner's own record, and no
// more.
inline constexpr auto kRemovedUser = record<Member>(
    "RemovedUser", field<&Member::user_id>("id"), field<&Member::member_id>("member_id"),
    field<&Member::organization_id>("organization_id"), field<&Member::external_id>("external_id"));

// ---------------------------------------------------------------------------- installations

inline constexpr auto kInstallation = record<Installation>(
    "Installation", field<&Installation::id>("id"), field<&Installation::module_id>("module_id"),
    field<&Installation::organization_id>("organization_id"),
    field<&Installation::version_id>("version_id"), field<&Installation::status>("status"),
    field<&Installation::config>("config"), field<&Installation::installed_by>("installed_by"),
    field<&Installation::installed_at>("installed_at"),
    field<&Installation::created_at>("created_at"), field<&Installation::updated_at>("updated_at"));

// ---------------------------------------------------------------------------- engagement

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
