#include "store/access/api_keys.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::nested;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

// Authentication reads these for each request.
constexpr auto kApiKey = columns<rules::ApiKey>(
    column<&rules::ApiKey::organization_id>("organization_id"), column<&rules::ApiKey::id>("id"),
    column<&rules::ApiKey::name>("name"), column<&rules::ApiKey::last_four>("last_four"),
    column<&rules::ApiKey::role>("role"),
    column<&rules::ApiKey::rate_per_second>("rate_per_second"),
    column<&rules::ApiKey::burst>("burst"), column<&rules::ApiKey::created_by>("created_by"),
    column<&rules::ApiKey::created_at>("created_at"),
    column<&rules::ApiKey::last_used_at>("last_used_at"),
    column<&rules::ApiKey::expires_at>("expires_at"),
    column<&rules::ApiKey::revoked_at>("revoked_at"));
constexpr auto kShownKey =
    columns<rules::ApiKey>(kApiKey, column<&rules::ApiKey::created_by_email>(
                                        "(SELECT e.email FROM admins e WHERE e.id = created_by)"));
constexpr auto kFoundKey = columns<FoundApiKey>(column<&FoundApiKey::secret_hash>("secret_hash"),
                                                nested<&FoundApiKey::key>(kApiKey));

}  // namespace

void insert_api_key(db::OrgStore& org, const rules::ApiKey& key, std::string_view secret_hash) {
    static constexpr OrgSql kInsert{
        "api_keys.insert",
        "INSERT INTO api_keys (organization_id, id, name, secret_hash, last_four, "
        "role, rate_per_second, burst, created_by, created_at, expires_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, key.id, key.name, secret_hash, key.last_four, text_of(key.role),
                key.rate_per_second, key.burst, key.created_by, key.created_at, key.expires_at);
}

std::vector<FoundApiKey> find_api_keys(db::Tx& tx, std::span<const std::string> secret_hashes) {
    static constexpr SystemSql kFind{"api_keys.find_by_secret",
                                     Why{"the credential identifies the tenant"}, kFoundKey,
                                     "SELECT {columns} FROM api_keys FORCE INDEX (secret_hash) "
                                     "WHERE secret_hash IN ({?}) AND (SELECT o.disabled_at "
                                     "FROM organizations o "
                                     "WHERE o.id = api_keys.organization_id) IS NULL"};
    return tx.all_in(kFind, secret_hashes);
}

std::vector<rules::ApiKey> page_api_keys(db::OrgStore& org, ApiKeyId after, Timestamp shown_since,
                                         int limit) {
    static constexpr OrgSql kPage{
        "api_keys.page", kShownKey,
        "SELECT {columns} FROM api_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND id > ? AND (revoked_at IS NULL OR revoked_at >= ?) "
        "AND (expires_at IS NULL OR expires_at >= ?) ORDER BY id LIMIT ?"};
    return org.all(kPage, after, shown_since, shown_since, limit);
}

std::int64_t count_live_api_keys(db::OrgStore& org, Timestamp now, std::int64_t most) {
    static constexpr OrgSql kCount{
        "api_keys.count_live",
        "SELECT COUNT(*) FROM (SELECT 1 FROM api_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND revoked_at IS NULL "
        "AND (expires_at IS NULL OR expires_at > ?) LIMIT ?) AS live"};
    return org.value<std::int64_t>(kCount, now, most);
}

std::optional<rules::ApiKey> find_api_key(db::OrgStore& org, ApiKeyId id) {
    static constexpr OrgSql kFind{"api_keys.find", kShownKey,
                                  "SELECT {columns} FROM api_keys "
                                  "WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<rules::ApiKey> lock_api_key(db::OrgStore& org, ApiKeyId id) {
    static constexpr OrgSql kLock{"api_keys.lock", kShownKey,
                                  "SELECT {columns} FROM api_keys "
                                  "WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

void set_api_key_expiry(db::OrgStore& org, ApiKeyId id, Timestamp expires_at) {
    static constexpr OrgSql kSet{
        "api_keys.set_expiry",
        "UPDATE api_keys SET expires_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, expires_at, id);
}

void write_api_key(db::OrgStore& org, const rules::ApiKey& key) {
    static constexpr OrgSql kWrite{
        "api_keys.write",
        "UPDATE api_keys SET name = ?, rate_per_second = ?, burst = ?, expires_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kWrite, key.name, key.rate_per_second, key.burst, key.expires_at, key.id);
}

bool revoke_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now) {
    static constexpr OrgSql kRevoke{
        "api_keys.revoke",
        "UPDATE api_keys SET revoked_at = ? "
        "WHERE organization_id = :org AND id = ? AND revoked_at IS NULL"};
    return org.execute(kRevoke, now, id) == 1;
}

bool lock_api_key_to_touch(db::OrgStore& org, ApiKeyId id, Timestamp unless_since) {
    static constexpr OrgSql kLock{
        "api_keys.lock_to_touch",
        "SELECT 1 FROM api_keys WHERE organization_id = :org AND id = ? "
        "AND (last_used_at IS NULL OR last_used_at < ?) FOR UPDATE SKIP LOCKED"};
    return org.exists(kLock, id, unless_since);
}

void touch_api_key(db::OrgStore& org, ApiKeyId id, Timestamp now) {
    static constexpr OrgSql kTouch{
        "api_keys.touch",
        "UPDATE api_keys SET last_used_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kTouch, now, id);
}

}  // namespace muster::store
