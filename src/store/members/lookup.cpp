#include "store/members/lookup.hpp"

#include "store/batches.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;

namespace {

constexpr auto kLinked = columns<LinkedMember>(column<&LinkedMember::user>("user_id"),
                                               column<&LinkedMember::member>("id"),
                                               column<&LinkedMember::external_id>("external_id"));

using LinkedSql = OrgSql<std::remove_const_t<decltype(kLinked)>>;

void add(std::vector<LinkedMember>& to, std::vector<LinkedMember> found) {
    std::move(found.begin(), found.end(), std::back_inserter(to));
}

template <class Value>
std::vector<LinkedMember> find_members(db::OrgStore& org, const LinkedSql& sql,
                                       const LinkedSql& shared, std::span<const Value> values,
                                       MemberLock lock) {
    std::vector<LinkedMember> found;
    const LinkedSql& asked = lock == MemberLock::Share ? shared : sql;
    in_batches(values, [&](const std::vector<Param>& params) {
        add(found, org.all_bulk(asked, params.size(), params));
    });
    return found;
}

}  // namespace

std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_user", kLinked,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?})"};
    static constexpr OrgSql kFindShared{
        "members.hold_by_user", kLinked,
        "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND user_id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kFindShared, users, lock);
}

std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_id", kLinked,
                                  "SELECT {columns} FROM members FORCE INDEX (member) "
                                  "WHERE organization_id = :org AND id IN ({?})"};
    static constexpr OrgSql kFindShared{
        "members.hold_by_id", kLinked,
        "SELECT {columns} FROM members FORCE INDEX (member) "
        "WHERE organization_id = :org AND id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kFindShared, members, lock);
}

std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_external_id", kLinked,
                                  "SELECT {columns} FROM members FORCE INDEX (external_id_user) "
                                  "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ?"};
    static constexpr OrgSql kFindShared{
        "members.hold_by_external_id", kLinked,
        "SELECT {columns} FROM members FORCE INDEX (external_id_user) "
        "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ? LOCK IN SHARE MODE"};
    const auto ask = [&](std::vector<Param> params, int limit) {
        const std::size_t groups = params.size();
        params.emplace_back(limit);
        return org.all_bulk(lock == MemberLock::Share ? kFindShared : kFind, groups, params);
    };
    std::vector<LinkedMember> found;
    in_batches(external_ids, [&](const std::vector<Param>& params) {
        // One row more than if no external id were shared. If the limit is reached, ids are shared
        // (possibly by very many members), and each id is looked up separately.
        const int limit = static_cast<int>(params.size()) + 1;
        std::vector<LinkedMember> some = ask(params, limit);
        if (static_cast<int>(some.size()) == limit) {
            some.clear();
            // The last parameters may repeat a value, whose member would then count as several.
            std::set<std::string_view> asked;
            for (const Param& param : params) {
                if (asked.insert(param.bytes()).second) add(some, ask({param}, 2));
            }
        }
        add(found, std::move(some));
    });
    return found;
}

}  // namespace muster::store
