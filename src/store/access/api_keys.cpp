#include "store/access/api_keys.hpp"

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

rules::ApiKey api_key_of(const db::Rows& rows) {
    rules::ApiKey key;
    key.organization_id = rows.id<OrgId>(1);
    key.id = rows.id<ApiKeyId>(2);
    key.name = rows.bytes(3);
    key.last_four = rows.bytes(4);
    key.rate_per_second = rows.optional_integer(5);
    key.burst = rows.optional_integer(6);
    key.created_by = rows.optional_id<AdminId>(7);
    key.created_at = rows.timestamp(8);
    key.last_used_at = rows.optional_timestamp(9);
    key.expires_at = rows.optional_timestamp(10);
    key.revoked_at = rows.optional_timestamp(11);
    return key;
}

}  // namespace

void insert_api_key(db::OrgStore& org, const rules::ApiKey& key, std::string_view secret_hash) {
    static constexpr OrgSql kInsert{
        "api_keys.insert",
        "INSERT INTO api_keys (organization_id, id, name, secret_hash, last_four, "
        "rate_per_second, burst, created_by, created_at, expires_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, key.id, key.name, secret_hash, key.last_four, key.rate_per_second,
                key.burst, key.created_by, key.created_at, key.expires_at);
}

std::optional<rules::ApiKey> find_api_key(db::Tx& tx, std::string_view secret_hash) {
    static constexpr SystemSql kFind{
        "api_keys.find_by_secret", Why{"the credential is what tells the tenant"},
        "SELECT organization_id, id, name, last_four, rate_per_second, burst, created_by, "
        "created_at, last_used_at, expires_at, revoked_at FROM api_keys WHERE secret_hash = ?"};
    auto rows = tx.query(kFind, secret_hash);
    if (!rows.next()) return std::nullopt;
    return api_key_of(rows);
}

std::vector<rules::ApiKey> page_api_keys(db::OrgStore& org, ApiKeyId after, Timestamp shown_since,
                                         int limit) {
    static constexpr OrgSql kPage{
        "api_keys.page",
        "SELECT organization_id, id, name, last_four, rate_per_second, burst, created_by, "
        "created_at, last_used_at, expires_at, revoked_at FROM api_keys "
        "WHERE organization_id = :org AND id > ? AND (revoked_at IS NULL OR revoked_at >= ?) "
        "ORDER BY id LIMIT ?"};
    std::vector<rules::ApiKey> list;
    for (auto rows = org.query(kPage, after, shown_since, limit); rows.next();) {
        list.push_back(api_key_of(rows));
    }
    return list;
}

std::optional<rules::ApiKey> lock_api_key(db::OrgStore& org, ApiKeyId id) {
    static constexpr OrgSql kLock{
        "api_keys.lock",
        "SELECT organization_id, id, name, last_four, rate_per_second, burst, created_by, "
        "created_at, last_used_at, expires_at, revoked_at FROM api_keys "
        "WHERE organization_id = :org AND id = ? FOR UPDATE"};
    auto rows = org.query(kLock, id);
    if (!rows.next()) return std::nullopt;
    return api_key_of(rows);
}

void set_api_key_expiry(db::OrgStore& org, ApiKeyId id, Timestamp expires_at) {
    static constexpr OrgSql kSet{
        "api_keys.set_expiry",
        "UPDATE api_keys SET expires_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, expires_at, id);
}

bool revoke_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now) {
    static constexpr OrgSql kRevoke{
        "api_keys.revoke",
        "UPDATE api_keys SET revoked_at = ? "
        "WHERE organization_id = :org AND id = ? AND revoked_at IS NULL"};
    return org.execute(kRevoke, now, id) == 1;
}

void touch_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now, Timestamp unless_since) {
    static constexpr OrgSql kTouch{
        "api_keys.touch",
        "UPDATE api_keys SET last_used_at = ? WHERE organization_id = :org "
        "AND id = ? AND (last_used_at IS NULL OR last_used_at < ?)"};
    org.execute(kTouch, now, id, unless_since);
}

}  // namespace muster::store
