// Members by the ids of their users.
#pragma once

#include "rules/members/member.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::service {

inline std::unordered_map<UserId, rules::Member> by_user(std::vector<rules::Member> members) {
    std::unordered_map<UserId, rules::Member> users;
    for (rules::Member& member : members) {
        const UserId user = member.user_id;
        users.emplace(user, std::move(member));
    }
    return users;
}

}  // namespace muster::service
