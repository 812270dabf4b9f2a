// Looks up the memberships that a batch of engagement events refers to.
#pragma once

#include "store/members/lookup.hpp"

#include <map>
#include <set>
#include <string>

namespace muster::service {

struct MemberReferences {
    std::set<UserId> users;
    std::set<MemberId> members;
    std::set<std::string> external_ids;
};

class LinkedMembers {
  public:
    // MemberLock::Share prevents their deletion until the end of the transaction.
    LinkedMembers(db::OrgStore& org, const MemberReferences& references, store::MemberLock lock);

    // nullptr if there is no such member, or if several share the external id.
    const store::LinkedMember* by_user(const UserId& user) const;
    const store::LinkedMember* by_member(const MemberId& member) const;
    const store::LinkedMember* by_external_id(const std::string& external_id) const;

  private:
    std::map<UserId, store::LinkedMember> by_user_;
    std::map<MemberId, store::LinkedMember> by_member_;
    std::multimap<std::string, store::LinkedMember> by_external_id_;
};

}  // namespace muster::service
