// Looks up the members of many engagement events at once.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// The membership to which an event is linked.
struct LinkedMember {
    UserId user;
    MemberId member;
    std::optional<std::string> external_id;
};
enum class MemberLock : std::uint8_t { None, Share };
// The members among these. With MemberLock::Share they cannot change until the transaction ends. So
// an erasure waits for events that are being written, and deletes them too.
std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               MemberLock lock);
std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             MemberLock lock);
// If several members share an external id, returns at least two of them, but not all of many.
std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      MemberLock lock);

}  // namespace muster::store
