#include "service/members/lookup.hpp"

#include <vector>

namespace muster::service {
namespace {

template <class Key>
const store::LinkedMember* find_in(const std::map<Key, store::LinkedMember>& members,
                                   const Key& key) {
    const auto found = members.find(key);
    return found == members.end() ? nullptr : &found->second;
}

template <class Value>
std::vector<Value> to_vector(const std::set<Value>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

LinkedMembers::LinkedMembers(db::OrgStore& org, const MemberReferences& references,
                             store::MemberLock lock) {
    for (auto& member : store::find_members_by_user(org, to_vector(references.users), lock)) {
        by_user_.emplace(member.user, member);
    }
    for (auto& member : store::find_members_by_id(org, to_vector(references.members), lock)) {
        by_member_.emplace(member.member, member);
    }
    for (auto& member :
         store::find_members_by_external_id(org, to_vector(references.external_ids), lock)) {
        by_external_id_.emplace(member.external_id.value_or(""), member);
    }
}

const store::LinkedMember* LinkedMembers::by_user(const UserId& user) const {
    return find_in(by_user_, user);
}

const store::LinkedMember* LinkedMembers::by_member(const MemberId& member) const {
    return find_in(by_member_, member);
}

const store::LinkedMember* LinkedMembers::by_external_id(const std::string& external_id) const {
    const bool is_one = by_external_id_.count(external_id) == 1;
    return is_one ? &by_external_id_.find(external_id)->second : nullptr;
}

}  // namespace muster::service
