// Reads members by their ids.
#pragma once

#include "service/context.hpp"

#include <span>
#include <vector>

namespace muster::rules {
struct Member;
}

namespace muster::service {

// The members of the organization among these users (one or more), found by one query.
std::vector<rules::Member> find_members(Context& context, OrgId organization,
                                        std::span<const UserId> users);

}  // namespace muster::service
