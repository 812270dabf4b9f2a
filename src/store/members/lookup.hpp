// The members that engagement events name: looked up for many events together.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// A membership that an event is linked to.
struct LinkedMember {
    UserId user;
    MemberId member;
    std::optional<std::string> external_id;
};
enum class MemberLock : std::uint8_t { None, Share };
// Those of these who are members. With MemberLock::Share they stay so until the transaction ends:
// an erasure waits for the events that are being written, and takes them along.
std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               MemberLock lock);
std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             MemberLock lock);
// Several may share an external id: then at least two of them are given, and never all of many.
std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      MemberLock lock);

}  // namespace muster::store
