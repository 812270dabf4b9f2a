#include "store/members/list.hpp"

#include "rules/attributes.hpp"
#include "rules/numbers.hpp"
#include "store/like_pattern.hpp"

namespace muster::store {
namespace {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using db::Param;

constexpr auto kKey = columns<MemberKey>(column<&MemberKey::user_id>("user_id"));

constexpr auto kKeyByUser = columns<MemberKey>(column<&MemberKey::user_id>("m.user_id"));

constexpr auto kKeyByTime = columns<MemberKey>(column<&MemberKey::user_id>("user_id"),
                                               column<&MemberKey::term>("updated_at"));

std::string bytes_of_member(const MemberId& id) {
    return std::string(id.bytes());
}

constexpr auto kKeyByMember = columns<MemberKey>(
    column<&MemberKey::user_id>("user_id"), converted<bytes_of_member, &MemberKey::term>("id"));

// Computes the first matching term of a member, so that its other matches can be skipped without
// remembering which members were shown.
constexpr auto kKeyByTerm = columns<MemberKey>(
    column<&MemberKey::user_id>("k.user_id"), column<&MemberKey::term>("k.term"),
    column<&MemberKey::is_hit>(
        "k.place = CASE "
        "WHEN m.email LIKE ? AND (m.search_name NOT LIKE ? OR m.email <= m.search_name) "
        "AND (m.last_name IS NULL OR m.last_name NOT LIKE ? OR m.email <= m.last_name) THEN 1 "
        "WHEN m.search_name LIKE ? AND (m.last_name IS NULL OR m.last_name NOT LIKE ? "
        "OR m.search_name <= m.last_name) THEN 2 ELSE 3 END"));

struct Matched {
    UserId user_id;
    std::int64_t bytes = 0;
    bool has_value = false;
    std::optional<std::string> document;  // of a member with the value, if it is a number
};
// JSON_CONTAINS takes close numbers for the same, so numbers are compared again. They are read from
// the document, because MySQL's JSON functions round long ones.
constexpr auto kMatched = columns<Matched>(
    column<&Matched::user_id>("user_id"), column<&Matched::bytes>("LENGTH(attributes)"),
    column<&Matched::has_value>("COALESCE(JSON_CONTAINS(attributes, ?, ?), 0)"),
    column<&Matched::document>(
        "CASE WHEN ? AND JSON_CONTAINS(attributes, ?, ?) THEN attributes END"));

constexpr auto kUserMembership = db::row<UserId, MemberId>("user_id", "id");

constexpr auto kSize = db::row<UserId, std::int64_t>("user_id", "LENGTH(attributes)");

MemberSizes read_sizes(db::OrgStore& org, const auto& sql, std::span<const UserId> users) {
    MemberSizes sizes;
    if (users.empty()) return sizes;
    for (const auto& [user, bytes] : org.all_in(sql, users)) sizes.emplace(user, bytes);
    return sizes;
}

}  // namespace

std::vector<MemberKey> find_member_key(db::OrgStore& org, std::string_view email) {
    // Uses users.email: the collation of members.email treats different addresses as equal.
    static constexpr OrgSql kFind{
        "members.find_by_email", kKeyByUser,
        "SELECT {columns} FROM users u JOIN members m ON m.organization_id = :org "
        "AND m.user_id = u.id WHERE u.email = ?"};
    return org.all(kFind, email);
}

std::vector<MemberKey> page_members(db::OrgStore& org, const UserId& after, int limit) {
    static constexpr OrgSql kPage{"members.page", kKey,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id > ? "
                                  "ORDER BY user_id LIMIT ?"};
    return org.all(kPage, after, limit);
}

std::vector<MemberKey> page_newest_members(db::OrgStore& org, const MemberId& before, int limit) {
    static constexpr OrgSql kPage{"members.page_newest", kKeyByMember,
                                  "SELECT {columns} FROM members FORCE INDEX (member) "
                                  "WHERE organization_id = :org AND id < ? "
                                  "ORDER BY id DESC LIMIT ?"};
    return org.all(kPage, before, limit);
}

std::vector<MemberKey> page_members_of_status(db::OrgStore& org, std::string_view status,
                                              const UserId& after, int limit) {
    static constexpr OrgSql kPage{"members.page_of_status", kKey,
                                  "SELECT {columns} FROM members FORCE INDEX (status) "
                                  "WHERE organization_id = :org AND status = ? AND user_id > ? "
                                  "ORDER BY user_id LIMIT ?"};
    return org.all(kPage, status, after, limit);
}

std::vector<MemberKey> page_members_of_external_id(db::OrgStore& org, std::string_view external_id,
                                                   const UserId& after, int limit) {
    static constexpr OrgSql kPage{
        "members.page_of_external_id", kKey,
        "SELECT {columns} FROM members FORCE INDEX (external_id_user) "
        "WHERE organization_id = :org AND external_id = ? AND user_id > ? "
        "ORDER BY user_id LIMIT ?"};
    return org.all(kPage, external_id, after, limit);
}

std::vector<MemberKey> page_members_updated(db::OrgStore& org, Timestamp when, const UserId& after,
                                            int limit) {
    static constexpr OrgSql kPage{
        "members.page_updated", kKeyByTime,
        "SELECT {columns} FROM members FORCE INDEX (updated_at) "
        "WHERE organization_id = :org AND ((updated_at = ? AND user_id > ?) OR updated_at > ?) "
        "ORDER BY updated_at, user_id LIMIT ?"};
    return org.all(kPage, when, after, when, limit);
}

std::vector<MemberKey> page_members_by_prefix(db::OrgStore& org, std::string_view prefix,
                                              const MemberKey& after, int limit) {
    // Each inner SELECT reads `limit` entries of its own index.
    static constexpr OrgSql kPage{
        "members.page_by_prefix", kKeyByTerm,
        "SELECT {columns} FROM ("
        "(SELECT email AS term, user_id, 1 AS place FROM members FORCE INDEX (email) "
        "WHERE organization_id = :org AND email LIKE ? "
        "AND ((email = ? AND user_id > ?) OR email > ?) ORDER BY email, user_id LIMIT ?) "
        "UNION ALL "
        "(SELECT search_name, user_id, 2 FROM members FORCE INDEX (search_name) "
        "WHERE organization_id = :org AND search_name LIKE ? "
        "AND ((search_name = ? AND user_id > ?) OR search_name > ?) "
        "ORDER BY search_name, user_id LIMIT ?) "
        "UNION ALL "
        "(SELECT last_name, user_id, 3 FROM members FORCE INDEX (last_name) "
        "WHERE organization_id = :org AND last_name LIKE ? "
        "AND ((last_name = ? AND user_id > ?) OR last_name > ?) "
        "ORDER BY last_name, user_id LIMIT ?) "
        "ORDER BY term, user_id, place LIMIT ?"
        ") k STRAIGHT_JOIN members m ON m.organization_id = :org AND m.user_id = k.user_id "
        "ORDER BY k.term, k.user_id, k.place"};
    const std::string like = like_pattern(prefix);
    std::vector<Param> params(5, like);
    for (int place = 1; place <= 3; ++place) {
        params.insert(params.end(), {like, after.term, after.user_id, after.term, limit});
    }
    params.emplace_back(limit);
    return org.all_bulk(kPage, 1, params);
}

std::unordered_map<UserId, MemberId> filter_members(db::OrgStore& org,
                                                    std::span<const UserId> users,
                                                    const MemberConditions& conditions) {
    static constexpr OrgSql kFilter{
        "members.filter", kUserMembership,
        "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND user_id IN ({?}) "
        "AND (? IS NULL OR external_id = ?) AND (? IS NULL OR status = ?) "
        "AND (? IS NULL OR updated_at >= ?) AND (? IS NULL OR country = ?) "
        "AND (? IS NULL OR CAST(email AS BINARY) = ?) "
        "AND (? IS NULL OR email LIKE ? OR search_name LIKE ? OR last_name LIKE ?)"};
    const auto like =
        conditions.prefix ? std::optional(like_pattern(*conditions.prefix)) : std::nullopt;
    std::vector<Param> params(users.begin(), users.end());
    params.insert(params.end(), 2, conditions.external_id);
    params.insert(params.end(), 2, conditions.status);
    params.insert(params.end(), 2, conditions.updated_since);
    params.insert(params.end(), 2, conditions.country);
    params.insert(params.end(), 2, conditions.email);
    params.insert(params.end(), 4, like);
    std::unordered_map<UserId, MemberId> found;
    for (const auto& [user, membership] : org.each_bulk(kFilter, users.size(), params)) {
        found.emplace(user, membership);
    }
    return found;
}

AttributeMatches match_attribute(db::OrgStore& org, std::span<const UserId> users,
                                 const rules::AttributeCondition& condition) {
    static constexpr OrgSql kMatch{"members.match_attribute", kMatched,
                                   "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org AND user_id IN ({?})"};
    // The document has [value, provenance, time] for each key.
    const std::string path = "$.\"" + condition.key + "\"[0]";
    const bool is_number = rules::is_number_text(condition.value);
    std::vector<Param> params{condition.value, path, is_number, condition.value, path};
    params.insert(params.end(), users.begin(), users.end());
    AttributeMatches matches;
    for (const Matched& member : org.each_bulk(kMatch, users.size(), params)) {
        matches.bytes += static_cast<std::size_t>(member.bytes);
        const bool is_same =
            !member.document ||
            rules::is_same_number(condition.value,
                                  rules::stored_value(*member.document, condition.key));
        if (member.has_value && is_same) matches.users.insert(member.user_id);
    }
    return matches;
}

MemberSizes find_member_sizes(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kFind{"members.find_sizes", kSize,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?})"};
    return read_sizes(org, kFind, users);
}

MemberSizes lock_member_sizes(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kLock{"members.lock_sizes", kSize,
                                  "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND user_id IN ({?}) FOR UPDATE"};
    return read_sizes(org, kLock, users);
}

}  // namespace muster::store
