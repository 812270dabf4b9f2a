// The members that engagement events name: looked up for many events together.
#pragma once

#include "db/transaction.hpp"
#include "store/members/members.hpp"

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
// Those of these who are members. With Lock::Share they stay so until the transaction ends: an
// erasure waits for the events that are being written, and takes them along.
std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               Lock lock);
std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             Lock lock);
// Several may share an external id: then at least two of them are given, and never all of many.
std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      Lock lock);

}  // namespace muster::store
