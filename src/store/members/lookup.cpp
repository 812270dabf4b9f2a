#include "store/members/lookup.hpp"

#include "store/batches.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;

namespace {

void add_members(std::vector<LinkedMember>& to, db::Rows rows) {
    while (rows.next()) {
        LinkedMember& member = to.emplace_back();
        member.user = rows.id<UserId>(1);
        member.member = rows.id<MemberId>(2);
        if (!rows.is_null(3)) member.external_id = rows.bytes(3);
    }
}

template <class Value>
std::vector<LinkedMember> find_members(db::OrgStore& org, const OrgSql& sql, const OrgSql& shared,
                                       std::span<const Value> values, MemberLock lock) {
    std::vector<LinkedMember> found;
    const OrgSql& asked = lock == MemberLock::Share ? shared : sql;
    in_batches(values, [&](const std::vector<Param>& params) {
        add_members(found, org.query_bulk(asked, params.size(), params));
    });
    return found;
}

}  // namespace

std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_user",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND user_id IN ({?})"};
    static constexpr OrgSql kHold{
        "members.hold_by_user",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND user_id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kHold, users, lock);
}

std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND id IN ({?})"};
    static constexpr OrgSql kHold{
        "members.hold_by_id",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kHold, members, lock);
}

std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      MemberLock lock) {
    static constexpr OrgSql kFind{"members.find_by_external_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ?"};
    static constexpr OrgSql kHold{
        "members.hold_by_external_id",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ? LOCK IN SHARE MODE"};
    const auto ask = [&](std::vector<Param> params, int limit) {
        const std::size_t groups = params.size();
        params.emplace_back(limit);
        std::vector<LinkedMember> found;
        add_members(found,
                    org.query_bulk(lock == MemberLock::Share ? kHold : kFind, groups, params));
        return found;
    };
    std::vector<LinkedMember> found;
    in_batches(external_ids, [&](const std::vector<Param>& params) {
        // One more than there can be, unless some are shared: by a few members or by all that the
        // organization has. Then each is asked for by itself.
        const int limit = static_cast<int>(params.size()) + 1;
        std::vector<LinkedMember> some = ask(params, limit);
        if (static_cast<int>(some.size()) == limit) {
            some.clear();
            for (const Param& param : params) {
                const auto of_one = ask({param}, 2);
                some.insert(some.end(), of_one.begin(), of_one.end());
            }
        }
        found.insert(found.end(), some.begin(), some.end());
    });
    return found;
}

}  // namespace muster::store
