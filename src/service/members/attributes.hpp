// The attributes of one member, with their types.
#pragma once

#include "rules/attributes.hpp"
#include "service/context.hpp"

#include <vector>

namespace muster::rules {
struct Member;
}

namespace muster::service {

// A value with the type of its attribute.
struct MemberAttribute {
    rules::AttributeEntry entry;
    rules::AttributeType type = rules::AttributeType::Text;
};
// The attributes of a member that was just read, ordered by key.
std::vector<MemberAttribute> list_member_attributes(Context& context, const rules::Member& member);

}  // namespace muster::service
