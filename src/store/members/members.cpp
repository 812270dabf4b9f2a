#include "store/members/members.hpp"

#include "db/sql_text.hpp"
#include "rules/members/core_fields.hpp"
#include "store/batches.hpp"

#include <utility>

namespace muster::store {

using db::column;
using db::columns;
using db::elements;
using db::kSqlText;
using db::OrgSql;
using db::Param;
using db::SqlText;
using db::SystemSql;
using db::Why;
using rules::Member;

namespace {

constexpr auto kFields = rules::kTextFields;
using EachField = std::make_index_sequence<kFields.size()>;

template <std::size_t... I>
constexpr auto member_columns(std::index_sequence<I...>) {
    return columns<Member>(
        column<&Member::user_id>("user_id"), column<&Member::member_id>("id"),
        column<&Member::organization_id>("organization_id"), column<&Member::email>("email"),
        column<kFields[I].stored>(kFields[I].name)..., column<&Member::attributes>("attributes"),
        column<&Member::status>("status"), column<&Member::locked_at>("locked_at"),
        column<&Member::lock_reason>("lock_reason"), column<&Member::created_at>("created_at"),
        column<&Member::updated_at>("updated_at"));
}
constexpr auto kMember = member_columns(EachField());

// NULL above 8 KiB, so 500 members have at most 4 MiB.
constexpr std::string_view kSmallAttributes = "IF(LENGTH(attributes) <= 8192, attributes, NULL)";

struct FoundMembership {
    UserId user;
    decltype(Membership::has_text) has_text{};
    std::optional<std::string> attributes;
};
template <std::size_t I>
constexpr SqlText has_field_text() {
    return {kFields[I].name, " IS NOT NULL"};
}

template <std::size_t... I>
constexpr auto membership_columns(std::index_sequence<I...>) {
    return columns<FoundMembership>(
        column<&FoundMembership::user>("user_id"),
        elements<&FoundMembership::has_text>({kSqlText<has_field_text<I>>...}),
        column<&FoundMembership::attributes>(kSmallAttributes));
}
constexpr auto kMembership = membership_columns(EachField());

struct FoundUser {
    std::string email;
    UserId id;
    bool is_member = false;
    decltype(Membership::has_text) has_text{};
    std::optional<std::string> attributes;
};

template <std::size_t... I>
constexpr auto known_columns(std::index_sequence<I...>) {
    return columns<FoundUser>(column<&FoundUser::email>("u.email"), column<&FoundUser::id>("u.id"),
                              column<&FoundUser::is_member>("m.user_id IS NOT NULL"),
                              elements<&FoundUser::has_text>({kSqlText<has_field_text<I>>...}),
                              column<&FoundUser::attributes>(kSmallAttributes));
}
constexpr auto kKnownUser = known_columns(EachField());

constexpr auto kUser = db::row<std::string, UserId>("email", "id");

// params_of() gives the parameters of a group.
constexpr SqlText insert_text() {
    SqlText text{"INSERT INTO members (organization_id, user_id, id, email, "};
    for (const auto& field : kFields) text.add({field.name, ", "});
    text.add({"attributes, created_at, updated_at) VALUES {(:org, ?, ?, ?, "});
    for (std::size_t i = 0; i < kFields.size(); ++i) text.add({"?, "});
    return text.add({"?, ?, ?)}"});
}

// Fills only empty values. JSON_MERGE_PATCH searches the whole stored document for each key, so the
// caller leaves out the keys that the member has. Assignments run from left to right; updated_at
// compares the old values, so it comes first.
constexpr SqlText fill_text() {
    SqlText text = insert_text();
    text.add({" ON DUPLICATE KEY UPDATE updated_at = IF("});
    for (const auto& field : kFields) {
        text.add(
            {"(members.", field.name, " IS NULL AND VALUES(", field.name, ") IS NOT NULL) OR "});
    }
    text.add(
        {"VALUES(attributes) <> '{}', "
         "GREATEST(VALUES(updated_at), members.updated_at + 1), members.updated_at), "});
    for (const auto& field : kFields) {
        text.add({field.name, " = COALESCE(members.", field.name, ", VALUES(", field.name, ")), "});
    }
    return text.add(
        {"attributes = IF(VALUES(attributes) = '{}', members.attributes, "
         "JSON_MERGE_PATCH(VALUES(attributes), members.attributes))"});
}

constexpr SqlText update_text() {
    SqlText text{"UPDATE members SET "};
    for (const auto& field : kFields) text.add({field.name, " = ?, "});
    return text.add(
        {"attributes = ?, status = ?, locked_at = ?, lock_reason = ?, updated_at = ? "
         "WHERE organization_id = :org AND user_id = ?"});
}

// Members come one by one, in the batches of a collector, or in the blocks of an import. Blocks
// have 500 rows, and one statement for all of them is the fastest.
constexpr std::size_t kMostCollected = 64;

template <class Row, class Use>
void in_member_pieces(std::span<const Row> rows, const Use& use) {
    rows.size() > kMostCollected ? use(rows) : in_pieces(rows, use);
}

// The parameters of an IN list, which may repeat a value.
template <class Value>
std::vector<Param> list_of(std::span<const Value> values) {
    std::vector<Param> params(values.begin(), values.end());
    if (params.size() <= kMostCollected) {
        params.resize(std::bit_ceil(params.size()), params.back());
    }
    return params;
}

std::vector<Param> params_of(std::span<const NewMember> members, Timestamp now) {
    std::vector<Param> params;
    params.reserve(members.size() * (kFields.size() + 6));
    for (const NewMember& member : members) {
        params.insert(params.end(), {member.user_id, member.member_id, member.email});
        for (const std::string_view text : member.texts) {
            params.push_back(Param::text_or_null(text));
        }
        params.insert(params.end(), {member.attributes, now, now});
    }
    return params;
}

}  // namespace

std::int64_t insert_users(db::Tx& tx, std::span<const NewUser> users, Timestamp now) {
    // The update changes nothing, but it locks existing rows, so that other transactions that
    // attach or merge the same person wait. Only new rows are counted as changed.
    static constexpr SystemSql kInsert{
        "users.insert", Why{"identities are global; member rows belong to tenants"},
        "INSERT INTO users (id, email, created_at) VALUES {(?, ?, ?)} "
        "ON DUPLICATE KEY UPDATE id = users.id"};
    std::int64_t inserted = 0;
    in_member_pieces(users, [&](std::span<const NewUser> piece) {
        std::vector<Param> params;
        params.reserve(piece.size() * 3);
        for (const NewUser& user : piece) params.insert(params.end(), {user.id, user.email, now});
        inserted += tx.execute_bulk(kInsert, piece.size(), params);
    });
    return inserted;
}

UsersByEmail find_users(db::Tx& tx, std::span<const std::string_view> emails, UserLock lock) {
    static constexpr SystemSql kFind{
        "users.find", Why{"identities are global; member rows belong to tenants"}, kUser,
        "SELECT {columns} FROM users FORCE INDEX (email) WHERE email IN ({?})"};
    static constexpr SystemSql kFindLocked{
        "users.find_locked", Why{"identities are global; member rows belong to tenants"}, kUser,
        "SELECT {columns} FROM users FORCE INDEX (email) WHERE email IN ({?}) FOR UPDATE"};
    UsersByEmail found;
    if (emails.empty()) return found;
    const auto params = list_of(emails);
    const auto& sql = lock == UserLock::ForUpdate ? kFindLocked : kFind;
    for (auto [email, user] : tx.each_bulk(sql, params.size(), params)) {
        found.emplace(std::move(email), user);
    }
    return found;
}

std::unordered_map<UserId, Membership> find_memberships(db::OrgStore& org,
                                                        std::span<const UserId> users) {
    static constexpr OrgSql kFind{"members.find_memberships", kMembership,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?}) FOR UPDATE"};
    std::unordered_map<UserId, Membership> found;
    if (users.empty()) return found;
    const auto params = list_of(users);
    for (FoundMembership row : org.each_bulk(kFind, params.size(), params)) {
        found.emplace(row.user, Membership{row.has_text, std::move(row.attributes)});
    }
    return found;
}

std::unordered_map<std::string, KnownUser> find_known_users(
    db::OrgStore& org, std::span<const std::string_view> emails) {
    static constexpr OrgSql kFind{
        "members.find_known_users", kKnownUser,
        "SELECT {columns} FROM users u FORCE INDEX (email) "
        "LEFT JOIN members m FORCE INDEX (PRIMARY) "
        "ON m.organization_id = :org AND m.user_id = u.id WHERE u.email IN ({?})"};
    std::unordered_map<std::string, KnownUser> found;
    if (emails.empty()) return found;
    found.reserve(emails.size());
    const auto params = list_of(emails);
    for (FoundUser row : org.each_bulk(kFind, params.size(), params)) {
        KnownUser& user = found[std::move(row.email)];
        user.id = row.id;
        if (row.is_member) user.membership = {row.has_text, std::move(row.attributes)};
    }
    return found;
}

std::int64_t count_members_among(db::OrgStore& org, std::span<const std::string_view> emails) {
    static constexpr OrgSql kCount{
        "members.count_among",
        "SELECT COUNT(*) FROM users u FORCE INDEX (email) "
        "STRAIGHT_JOIN members m FORCE INDEX (PRIMARY) "
        "ON m.organization_id = :org AND m.user_id = u.id WHERE u.email IN ({?})"};
    if (emails.empty()) return 0;
    const std::vector<Param> params(emails.begin(), emails.end());
    return org.all_bulk<std::int64_t>(kCount, emails.size(), params).front();
}

void insert_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now) {
    static constexpr OrgSql kInsert{"members.insert", kSqlText<insert_text>};
    in_member_pieces(members, [&](std::span<const NewMember> piece) {
        org.execute_bulk(kInsert, piece.size(), params_of(piece, now));
    });
}

void fill_members(db::OrgStore& org, std::span<const NewMember> members, Timestamp now) {
    static constexpr OrgSql kFill{"members.fill", kSqlText<fill_text>};
    in_member_pieces(members, [&](std::span<const NewMember> piece) {
        org.execute_bulk(kFill, piece.size(), params_of(piece, now));
    });
}

std::vector<rules::Member> find_members(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kFind{"members.find_many", kMember,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?})"};
    return org.all_in(kFind, users);
}

std::optional<rules::Member> lock_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kLock{
        "members.lock", kMember,
        "SELECT {columns} FROM members WHERE organization_id = :org AND user_id = ? FOR UPDATE"};
    return org.one(kLock, user);
}

std::vector<rules::Member> lock_members(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kLock{"members.lock_many", kMember,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?}) FOR UPDATE"};
    if (users.empty()) return {};
    return org.all_in(kLock, users);
}

void update_member(db::OrgStore& org, const rules::Member& member) {
    static constexpr OrgSql kUpdate{"members.update", kSqlText<update_text>};
    std::vector<Param> params;
    params.reserve(kFields.size() + 6);
    for (const auto& field : kFields) params.emplace_back(member.*field.stored);
    params.insert(params.end(), {member.attributes, member.status, member.locked_at,
                                 member.lock_reason, member.updated_at, member.user_id});
    org.execute_bulk(kUpdate, 1, params);
}

bool delete_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kDelete{
        "members.delete", "DELETE FROM members WHERE organization_id = :org AND user_id = ?"};
    return org.execute(kDelete, user) > 0;
}

void delete_members(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kDelete{
        "members.delete_many",
        "DELETE FROM members WHERE organization_id = :org AND user_id IN ({?})"};
    if (users.empty()) return;
    const auto params = list_of(users);
    org.execute_bulk(kDelete, params.size(), params);
}

}  // namespace muster::store
