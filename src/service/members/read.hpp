// One member, and its attributes.
#pragma once

#include "rules/attributes.hpp"
#include "rules/members/member.hpp"
#include "service/context.hpp"

#include <span>
#include <vector>

namespace muster::service {

// The members of the organization among these users (one or more), found by one query.
std::vector<rules::Member> find_members(Context& context, OrgId organization,
                                        std::span<const UserId> users);

// A value with the type of its attribute.
struct MemberAttribute {
    rules::AttributeEntry entry;
    rules::AttributeType type = rules::AttributeType::Text;
};
// The attributes of a member that was just read, ordered by key.
std::vector<MemberAttribute> list_member_attributes(Context& context, const rules::Member& member);

}  // namespace muster::service
