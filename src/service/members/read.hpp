// One member, and its attributes.
#pragma once

#include "rules/attributes.hpp"
#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <optional>
#include <vector>

namespace muster::service {

// nullopt if the user is not a member of the organization.
std::optional<rules::Member> find_member(Context& context, OrgId organization, UserId user);

// A value with the type of its attribute.
struct MemberAttribute {
    rules::AttributeEntry entry;
    rules::AttributeType type = rules::AttributeType::Text;
};
// Ordered by key; nullopt if the user is not a member of the organization.
std::optional<std::vector<MemberAttribute>> list_member_attributes(Context& context,
                                                                   OrgId organization, UserId user);

}  // namespace muster::service
