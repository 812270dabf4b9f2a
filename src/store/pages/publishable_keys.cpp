#include "store/pages/publishable_keys.hpp"

#include "store/words.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;
using rules::PublishableKeyKind;

namespace {

// Each use of a key reads these.
constexpr auto kKey = columns<rules::PublishableKey>(
    column<&rules::PublishableKey::organization_id>("organization_id"),
    column<&rules::PublishableKey::id>("id"), column<&rules::PublishableKey::kind>("kind"),
    column<&rules::PublishableKey::name>("name"), column<&rules::PublishableKey::token>("token"),
    converted<words_of, &rules::PublishableKey::allowed_origins>("allowed_origins"),
    column<&rules::PublishableKey::rate_per_second>("rate_per_second"),
    column<&rules::PublishableKey::burst>("burst"),
    column<&rules::PublishableKey::created_by>("created_by"),
    column<&rules::PublishableKey::created_at>("created_at"),
    column<&rules::PublishableKey::last_used_at>("last_used_at"),
    column<&rules::PublishableKey::expires_at>("expires_at"),
    column<&rules::PublishableKey::revoked_at>("revoked_at"));
constexpr auto kShownKey = columns<rules::PublishableKey>(
    kKey, column<&rules::PublishableKey::created_by_email>(
              "(SELECT e.email FROM admins e WHERE e.id = created_by)"));

}  // namespace

std::vector<rules::PublishableKey> find_publishable_keys(db::Tx& tx,
                                                         std::span<const std::string> tokens) {
    static constexpr SystemSql kFind{"publishable_keys.find_by_token",
                                     Why{"the key identifies the tenant"}, kKey,
                                     "SELECT {columns} FROM publishable_keys FORCE INDEX (token) "
                                     "WHERE token IN ({?}) AND (SELECT o.disabled_at "
                                     "FROM organizations o "
                                     "WHERE o.id = publishable_keys.organization_id) IS NULL"};
    return tx.all_in(kFind, tokens);
}

void insert_publishable_key(db::OrgStore& org, const rules::PublishableKey& key) {
    static constexpr OrgSql kInsert{
        "publishable_keys.insert",
        "INSERT INTO publishable_keys (organization_id, id, kind, name, token, allowed_origins, "
        "rate_per_second, burst, created_by, created_at, expires_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, key.id, text_of(key.kind), key.name, key.token,
                joined_words(key.allowed_origins), key.rate_per_second, key.burst, key.created_by,
                key.created_at, key.expires_at);
}

std::int64_t count_publishable_keys(db::OrgStore& org) {
    static constexpr OrgSql kCount{"publishable_keys.count",
                                   "SELECT COUNT(*) FROM publishable_keys "
                                   "WHERE organization_id = :org AND revoked_at IS NULL"};
    return org.value<std::int64_t>(kCount);
}

std::vector<rules::PublishableKey> page_publishable_keys(db::OrgStore& org, PublishableKeyKind kind,
                                                         PublishableKeyId after,
                                                         Timestamp shown_since, int limit) {
    static constexpr OrgSql kPage{
        "publishable_keys.page", kShownKey,
        "SELECT {columns} FROM publishable_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND id > ? AND kind = ? "
        "AND (revoked_at IS NULL OR revoked_at >= ?) ORDER BY id LIMIT ?"};
    return org.all(kPage, after, text_of(kind), shown_since, limit);
}

std::optional<rules::PublishableKey> find_publishable_key(db::OrgStore& org,
                                                          PublishableKeyKind kind,
                                                          PublishableKeyId id) {
    static constexpr OrgSql kFind{"publishable_keys.find", kShownKey,
                                  "SELECT {columns} FROM publishable_keys "
                                  "WHERE organization_id = :org AND id = ? AND kind = ?"};
    return org.one(kFind, id, text_of(kind));
}

std::optional<rules::PublishableKey> lock_publishable_key(db::OrgStore& org,
                                                          PublishableKeyKind kind,
                                                          PublishableKeyId id) {
    static constexpr OrgSql kLock{
        "publishable_keys.lock", kShownKey,
        "SELECT {columns} FROM publishable_keys "
        "WHERE organization_id = :org AND id = ? AND kind = ? FOR UPDATE"};
    return org.one(kLock, id, text_of(kind));
}

void write_publishable_key(db::OrgStore& org, const rules::PublishableKey& key) {
    static constexpr OrgSql kWrite{
        "publishable_keys.write",
        "UPDATE publishable_keys SET name = ?, allowed_origins = ?, rate_per_second = ?, "
        "burst = ?, expires_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kWrite, key.name, joined_words(key.allowed_origins), key.rate_per_second, key.burst,
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

bool lock_publishable_key_to_touch(db::OrgStore& org, PublishableKeyId id, Timestamp unless_since) {
    static constexpr OrgSql kLock{
        "publishable_keys.lock_to_touch",
        "SELECT 1 FROM publishable_keys WHERE organization_id = :org AND id = ? "
        "AND (last_used_at IS NULL OR last_used_at < ?) FOR UPDATE SKIP LOCKED"};
    return org.exists(kLock, id, unless_since);
}

void touch_publishable_key(db::OrgStore& org, PublishableKeyId id, Timestamp now) {
    static constexpr OrgSql kTouch{
        "publishable_keys.touch",
        "UPDATE publishable_keys SET last_used_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kTouch, now, id);
}

}  // namespace muster::store
