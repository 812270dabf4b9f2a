// How the API and webhooks show a member.
#pragma once

#include "base/record.hpp"
#include "rules/attributes.hpp"
#include "rules/members/member.hpp"

namespace muster::rules {

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
        JsonType<RawJson>::schema},
    RecordField<Member>{"roles", [](JsonWriter& to, const Member&) { to.raw(R"(["member"])"); },
                        JsonType<std::vector<std::string>>::schema},
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

}  // namespace muster::rules
