#include "store/pages/publishable_keys.hpp"

#include "base/text.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;
using rules::PublishableKeyKind;

namespace {

PublishableKeyKind kind_of(std::string_view text) {
    using Kind = PublishableKeyKind;
    return text == text_of(Kind::Tracking) ? Kind::Tracking : Kind::Content;
}

rules::PublishableKey publishable_key_of(const db::Rows& rows) {
    rules::PublishableKey key;
    key.organization_id = rows.id<OrgId>(1);
    key.id = rows.id<PublishableKeyId>(2);
    key.kind = kind_of(rows.bytes(3));
    key.name = rows.bytes(4);
    key.token = rows.bytes(5);
    const std::string origins = rows.bytes(6);
    for (const std::string_view origin : split(origins, ' ')) {
        key.allowed_origins.emplace_back(origin);
    }
    key.rate_per_second = rows.optional_integer(7);
    key.burst = rows.optional_integer(8);
    key.created_by = rows.optional_id<AdminId>(9);
    key.created_at = rows.timestamp(10);
    key.last_used_at = rows.optional_timestamp(11);
    key.expires_at = rows.optional_timestamp(12);
    key.revoked_at = rows.optional_timestamp(13);
    return key;
}

std::string spaced(const std::vector<std::string>& origins) {
    std::string text;
    for (const std::string& origin : origins) text += (text.empty() ? "" : " ") + origin;
    return text;
}

}  // namespace

std::vector<rules::PublishableKey> find_publishable_keys(db::Tx& tx,
                                                         std::span<const std::string> tokens) {
    static constexpr SystemSql kFind{
        "publishable_keys.find_by_token", Why{"the key is what tells the tenant"},
        "SELECT organization_id, id, kind, name, token, allowed_origins, rate_per_second, burst, "
        "created_by, created_at, last_used_at, expires_at, revoked_at FROM publishable_keys "
        "WHERE token IN ({?})"};
    std::vector<rules::PublishableKey> found;
    if (tokens.empty()) return found;
    const std::vector<Param> params(tokens.begin(), tokens.end());
    for (auto rows = tx.query_bulk(kFind, tokens.size(), params); rows.next();) {
        found.push_back(publishable_key_of(rows));
    }
    return found;
}

void insert_publishable_key(db::OrgStore& org, const rules::PublishableKey& key) {
    static constexpr OrgSql kInsert{
        "publishable_keys.insert",
        "INSERT INTO publishable_keys (organization_id, id, kind, name, token, allowed_origins, "
        "rate_per_second, burst, created_by, created_at, expires_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, key.id, text_of(key.kind), key.name, key.token,
                spaced(key.allowed_origins), key.rate_per_second, key.burst, key.created_by,
                key.created_at, key.expires_at);
}

std::int64_t count_publishable_keys(db::OrgStore& org) {
    static constexpr OrgSql kCount{"publishable_keys.count",
                                   "SELECT COUNT(*) FROM publishable_keys "
                                   "WHERE organization_id = :org AND revoked_at IS NULL"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

std::vector<rules::PublishableKey> page_publishable_keys(db::OrgStore& org, PublishableKeyKind kind,
                                                         PublishableKeyId after,
                                                         Timestamp shown_since, int limit) {
    static constexpr OrgSql kPage{
        "publishable_keys.page",
        "SELECT organization_id, id, kind, name, token, allowed_origins, rate_per_second, burst, "
        "created_by, created_at, last_used_at, expires_at, revoked_at FROM publishable_keys "
        "WHERE organization_id = :org AND id > ? AND kind = ? "
        "AND (revoked_at IS NULL OR revoked_at >= ?) ORDER BY id LIMIT ?"};
    std::vector<rules::PublishableKey> list;
    for (auto rows = org.query(kPage, after, text_of(kind), shown_since, limit); rows.next();) {
        list.push_back(publishable_key_of(rows));
    }
    return list;
}

std::optional<rules::PublishableKey> lock_publishable_key(db::OrgStore& org,
                                                          PublishableKeyKind kind,
                                                          PublishableKeyId id) {
    static constexpr OrgSql kLock{
        "publishable_keys.lock",
        "SELECT organization_id, id, kind, name, token, allowed_origins, rate_per_second, burst, "
        "created_by, created_at, last_used_at, expires_at, revoked_at FROM publishable_keys "
        "WHERE organization_id = :org AND id = ? AND kind = ? FOR UPDATE"};
    auto rows = org.query(kLock, id, text_of(kind));
    if (!rows.next()) return std::nullopt;
    return publishable_key_of(rows);
}

void write_publishable_key(db::OrgStore& org, const rules::PublishableKey& key) {
    static constexpr OrgSql kWrite{
        "publishable_keys.write",
        "UPDATE publishable_keys SET name = ?, allowed_origins = ?, rate_per_second = ?, "
        "burst = ?, expires_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kWrite, key.name, spaced(key.allowed_origins), key.rate_per_second, key.burst,
                key.expires_at, key.id);
}

bool revoke_publishable_key(db::OrgStore& org, PublishableKeyKind kind, PublishableKeyId id,
                            Timestamp now) {
    static constexpr OrgSql kRevoke{
        "publishable_keys.revoke",
        "UPDATE publishable_keys SET revoked_at = ? "
        "WHERE organization_id = :org AND id = ? AND kind = ? AND revoked_at IS NULL"};
    return org.execute(kRevoke, now, id, text_of(kind)) == 1;
}

void touch_publishable_key(db::OrgStore& org, PublishableKeyId id, Timestamp now,
                           Timestamp unless_since) {
    static constexpr OrgSql kTouch{
        "publishable_keys.touch",
        "UPDATE publishable_keys SET last_used_at = ? WHERE organization_id = :org AND id = ? "
        "AND (last_used_at IS NULL OR last_used_at < ?)"};
    org.execute(kTouch, now, id, unless_since);
}

}  // namespace muster::store
