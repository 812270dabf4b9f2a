// The JSON form of a member in the API and in webhooks.
#pragma once

#include "base/record.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/member.hpp"
#include "rules/members/status.hpp"

namespace muster::rules {

// A core field with its shared name, meaning and example.
template <auto Member_>
constexpr auto member_field(CoreField field) {
    const CoreFieldEntry& entry = kCoreFields[static_cast<std::size_t>(field)];
    return muster::field<Member_>(entry.name, entry.meaning, entry.example);
}

inline constexpr auto kUser = record<Member>(
    "User", field<&Member::user_id>("id", "Id of the user, the same in each organization."),
    field<&Member::member_id>("member_id", "Id of the membership."),
    field<&Member::organization_id>("organization_id", "Id of the organization."),
    member_field<&Member::email>(CoreField::Email),
    member_field<&Member::external_id>(CoreField::ExternalId),
    member_field<&Member::first_name>(CoreField::FirstName),
    member_field<&Member::last_name>(CoreField::LastName),
    member_field<&Member::display_name>(CoreField::DisplayName),
    member_field<&Member::locale>(CoreField::Locale),
    member_field<&Member::country>(CoreField::Country), member_field<&Member::dob>(CoreField::Dob),
    RecordField<Member>{
        "attributes", "Values of the member's attributes, by key, including disabled attributes.",
        [](JsonWriter& to, const Member& member) { to.raw(attribute_values(member.attributes)); },
        [] { return map_of(attribute_value_schema()); }, R"({"shirt_size": "M"})"},
    RecordField<Member>{"roles", "Roles of the member; currently always member.",
                        [](JsonWriter& to, const Member&) { to.raw(R"(["member"])"); },
                        [] { return array_of_schema(one_of({"member"})); }},
    field<&Member::status>("status",
                           "active or locked. The data of a locked member can still be changed.")
        .of(JsonType<MemberStatus>::schema),
    field<&Member::locked_at>("locked_at", "Time of the lock; null while active."),
    field<&Member::lock_reason>("lock_reason", "Reason for the lock; null if none was given.",
                                "Asked for it by phone"),
    field<&Member::created_at>("created_at", "Time when the membership started."),
    field<&Member::updated_at>("updated_at", "Time of the last change."));

// A removed member in the event: only what the partner needs to find its own record.
inline constexpr auto kRemovedUser = record<Member>(
    "RemovedUser", field<&Member::user_id>("id", "Id of the user, the same in each organization."),
    field<&Member::member_id>("member_id", "Id of the membership."),
    field<&Member::organization_id>("organization_id", "Id of the organization."),
    member_field<&Member::external_id>(CoreField::ExternalId));

}  // namespace muster::rules
