#include "store/members/members.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

#define MEMBER_COLUMNS                                                               \
    "user_id, id, email, external_id, first_name, last_name, display_name, locale, " \
    "country, dob, attributes, status, locked_at, lock_reason, created_at, updated_at"

rules::Member member_of(const db::Rows& rows, OrgId organization) {
    rules::Member member;
    member.user_id = rows.id<UserId>(1);
    member.member_id = rows.id<MemberId>(2);
    member.organization_id = organization;
    member.email = rows.bytes(3);
    member.external_id = rows.optional_text(4);
    member.first_name = rows.optional_text(5);
    member.last_name = rows.optional_text(6);
    member.display_name = rows.optional_text(7);
    member.locale = rows.optional_text(8);
    member.country = rows.optional_text(9);
    member.dob = rows.optional_text(10);
    member.attributes = rows.bytes(11);
    member.status = rows.bytes(12);
    member.locked_at = rows.optional_timestamp(13);
    member.lock_reason = rows.optional_text(14);
    member.created_at = rows.timestamp(15);
    member.updated_at = rows.timestamp(16);
    return member;
}

#define INSERT_MEMBERS                                                                           \
    "INSERT INTO members (organization_id, user_id, id, email, external_id, first_name, "        \
    "last_name, display_name, locale, country, dob, attributes, created_at, updated_at) VALUES " \
    "{(:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}"

std::vector<Param> params_of(std::span<const NewMember> members, Timestamp now) {
    std::vector<Param> params;
    params.reserve(members.size() * 13);
    for (const NewMember& member : members) {
        params.emplace_back(member.user_id);
        params.emplace_back(member.member_id);
        params.emplace_back(member.email);
        for (const std::string_view text : member.texts)
            params.push_back(Param::text_or_null(text));
        params.insert(params.end(), {member.attributes, now, now});
    }
    return params;
}

}  // namespace

std::int64_t insert_users(db::Tx& tx, std::span<const NewUser> users, Timestamp now) {
    // The update changes nothing, but it locks the row that stands already, so that whoever
    // attaches or merges the same person meanwhile waits. Only new rows are counted as changed.
    static constexpr SystemSql kInsert{
        "users.insert", Why{"the identity is global, the member row is the tenant's"},
        "INSERT INTO users (id, email, created_at) VALUES {(?, ?, ?)} "
        "ON DUPLICATE KEY UPDATE id = users.id"};
    if (users.empty()) return 0;
    std::vector<Param> params;
    params.reserve(users.size() * 3);
    for (const NewUser& user : users) params.insert(params.end(), {user.id, user.email, now});
    return tx.execute_bulk(kInsert, users.size(), params);
}

UsersByEmail find_users(db::Tx& tx, std::span<const std::string_view> emails, UserLock lock) {
    static constexpr SystemSql kFind{"users.find",
                                     Why{"the identity is global, the member row is the tenant's"},
                                     "SELECT email, id FROM users WHERE email IN ({?})"};
    static constexpr SystemSql kFindLocked{
        "users.find_locked", Why{"the identity is global, the member row is the tenant's"},
        "SELECT email, id FROM users WHERE email IN ({?}) FOR UPDATE"};
    UsersByEmail found;
    if (emails.empty()) return found;
    const std::vector<Param> params(emails.begin(), emails.end());
    auto rows =
        tx.query_bulk(lock == UserLock::ForUpdate ? kFindLocked : kFind, emails.size(), params);
    while (rows.next()) found.emplace(rows.bytes(1), rows.id<UserId>(2));
    return found;
}

std::unordered_map<UserId, Membership> find_memberships(db::OrgStore& org,
                                                        std::span<const UserId> users) {
    static constexpr OrgSql kFind{
        "members.find_memberships",
        "SELECT user_id, external_id IS NOT NULL, first_name IS NOT NULL, last_name IS NOT NULL, "
        "display_name IS NOT NULL, locale IS NOT NULL, country IS NOT NULL, dob IS NOT NULL, attributes "
        "FROM members WHERE organization_id = :org AND user_id IN ({?})"};
    std::unordered_map<UserId, Membership> found;
    if (users.empty()) return found;
    const std::vector<Param> params(users.begin(), users.end());
    auto rows = org.query_bulk(kFind, users.size(), params);
    while (rows.next()) {
        Membership& membership = found[rows.id<UserId>(1)];
        for (unsigned i = 0; i < membership.has_text.size(); ++i) {
            membership.has_text[i] = rows.integer(i + 2) != 0;
        }
        membership.attributes = rows.bytes(9);
    }
    return found;
}

KnownCounts count_known(db::OrgStore& org, std::span<const std::string_view> emails) {
    static constexpr OrgSql kCount{
        "members.count_known",
        "SELECT COUNT(*), COUNT(m.user_id) FROM users u LEFT JOIN members m "
        "ON m.organization_id = :org AND m.user_id = u.id WHERE u.email IN ({?})"};
    if (emails.empty()) return {};
    const std::vector<Param> params(emails.begin(), emails.end());
    auto rows = org.query_bulk(kCount, emails.size(), params);
    rows.next();
    return {rows.integer(1), rows.integer(2)};
}

void insert_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now) {
    static constexpr OrgSql kInsert{"members.insert", INSERT_MEMBERS};
    if (!members.empty()) org.execute_bulk(kInsert, members.size(), params_of(members, now));
}

void fill_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now) {
    // Assignments run from left to right: updated_at looks at the old values, so it stands first.
    static constexpr OrgSql kFill{
        "members.fill", INSERT_MEMBERS
        " ON DUPLICATE KEY UPDATE "
        "updated_at = IF((members.external_id IS NULL AND VALUES(external_id) IS NOT NULL) "
        "OR (members.first_name IS NULL AND VALUES(first_name) IS NOT NULL) "
        "OR (members.last_name IS NULL AND VALUES(last_name) IS NOT NULL) "
        "OR (members.display_name IS NULL AND VALUES(display_name) IS NOT NULL) "
        "OR (members.locale IS NULL AND VALUES(locale) IS NOT NULL) "
        "OR (members.country IS NULL AND VALUES(country) IS NOT NULL) "
        "OR (members.dob IS NULL AND VALUES(dob) IS NOT NULL) "
        "OR JSON_LENGTH(JSON_MERGE_PATCH(VALUES(attributes), members.attributes)) > "
        "JSON_LENGTH(members.attributes), VALUES(updated_at), members.updated_at), "
        "external_id = COALESCE(members.external_id, VALUES(external_id)), "
        "first_name = COALESCE(members.first_name, VALUES(first_name)), "
        "last_name = COALESCE(members.last_name, VALUES(last_name)), "
        "display_name = COALESCE(members.display_name, VALUES(display_name)), "
        "locale = COALESCE(members.locale, VALUES(locale)), "
        "country = COALESCE(members.country, VALUES(country)), "
        "dob = COALESCE(members.dob, VALUES(dob)), "
        "attributes = IF(VALUES(attributes) = '{}', members.attributes, "
        "JSON_MERGE_PATCH(VALUES(attributes), members.attributes))"};
    if (!members.empty()) org.execute_bulk(kFill, members.size(), params_of(members, now));
}

std::optional<rules::Member> find_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kFind{"members.find",
                                  "SELECT " MEMBER_COLUMNS
                                  " FROM members WHERE organization_id = :org AND user_id = ?"};
    auto rows = org.query(kFind, user);
    return rows.next() ? std::optional(member_of(rows, org.org())) : std::nullopt;
}

std::vector<rules::Member> find_members(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kFind{
        "members.find_many",
        "SELECT " MEMBER_COLUMNS " FROM members WHERE organization_id = :org AND user_id IN ({?})"};
    const std::vector<Param> params(users.begin(), users.end());
    auto rows = org.query_bulk(kFind, users.size(), params);
    std::vector<rules::Member> members;
    while (rows.next()) members.push_back(member_of(rows, org.org()));
    return members;
}

std::optional<rules::Member> lock_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kLock{
        "members.lock", "SELECT " MEMBER_COLUMNS
                        " FROM members WHERE organization_id = :org AND user_id = ? FOR UPDATE"};
    auto rows = org.query(kLock, user);
    return rows.next() ? std::optional(member_of(rows, org.org())) : std::nullopt;
}

void update_member(db::OrgStore& org, const rules::Member& member) {
    static constexpr OrgSql kUpdate{
        "members.update",
        "UPDATE members SET external_id = ?, first_name = ?, last_name = ?, display_name = ?, "
        "locale = ?, country = ?, dob = ?, attributes = ?, status = ?, locked_at = ?, "
        "lock_reason = ?, updated_at = ? WHERE organization_id = :org AND user_id = ?"};
    org.execute(kUpdate, member.external_id, member.first_name, member.last_name,
                member.display_name, member.locale, member.country, member.dob, member.attributes,
                member.status, member.locked_at, member.lock_reason, member.updated_at,
                member.user_id);
}

bool delete_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kDelete{
        "members.delete", "DELETE FROM members WHERE organization_id = :org AND user_id = ?"};
    return org.execute(kDelete, user) > 0;
}

}  // namespace muster::store
