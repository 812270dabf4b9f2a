#include "store/modules/credentials.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::nested;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kCredential = columns<rules::ModuleCredential>(
    column<&rules::ModuleCredential::organization_id>("c.organization_id"),
    column<&rules::ModuleCredential::id>("c.id"),
    column<&rules::ModuleCredential::installation_id>("c.installation_id"),
    column<&rules::ModuleCredential::name>("c.name"),
    column<&rules::ModuleCredential::last_four>("c.last_four"),
    column<&rules::ModuleCredential::created_by>("c.created_by"),
    column<&rules::ModuleCredential::created_at>("c.created_at"),
    column<&rules::ModuleCredential::last_used_at>("c.last_used_at"),
    column<&rules::ModuleCredential::expires_at>("c.expires_at"),
    column<&rules::ModuleCredential::revoked_at>("c.revoked_at"));
constexpr auto kShownCredential = columns<rules::ModuleCredential>(
    kCredential, column<&rules::ModuleCredential::created_by_email>(
                     "(SELECT e.email FROM admins e WHERE e.id = c.created_by)"));
constexpr auto kFound =
    columns<FoundCredential>(column<&FoundCredential::secret_hash>("c.secret_hash"),
                             nested<&FoundCredential::credential>(kCredential),
                             column<&FoundCredential::sealed_signing_secret>("c.signing_secret"),
                             column<&FoundCredential::is_disabled>("i.status = 'disabled'"));

}  // namespace

void insert_module_credential(db::OrgStore& org, const rules::ModuleCredential& credential,
                              std::string_view secret_hash,
                              std::string_view sealed_signing_secret) {
    static constexpr OrgSql kInsert{
        "module_credentials.insert",
        "INSERT INTO module_credentials (organization_id, id, installation_id, name, secret_hash, "
        "last_four, signing_secret, created_by, created_at, expires_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, credential.id, credential.installation_id, credential.name, secret_hash,
                credential.last_four, sealed_signing_secret, credential.created_by,
                credential.created_at, credential.expires_at);
}

std::vector<FoundCredential> find_module_credentials(db::Tx& tx,
                                                     std::span<const std::string> secret_hashes) {
    // Reads the installation's status in the same statement, so that disabling takes effect at
    // once.
    static constexpr SystemSql kFind{
        "module_credentials.find_by_secret", Why{"the credential identifies the tenant"}, kFound,
        "SELECT {columns} FROM module_credentials c FORCE INDEX (secret_hash) "
        "STRAIGHT_JOIN module_installations i "
        "ON i.organization_id = c.organization_id AND i.id = c.installation_id "
        "WHERE c.secret_hash IN ({?}) AND (SELECT o.disabled_at FROM organizations o "
        "WHERE o.id = c.organization_id) IS NULL"};
    return tx.all_in(kFind, secret_hashes);
}

std::vector<rules::ModuleCredential> page_module_credentials(db::OrgStore& org,
                                                             InstallationId installation,
                                                             CredentialId after,
                                                             Timestamp shown_since, int limit) {
    static constexpr OrgSql kPage{
        "module_credentials.page", kShownCredential,
        "SELECT {columns} FROM module_credentials c FORCE INDEX (installation) "
        "WHERE c.organization_id = :org AND c.installation_id = ? AND c.id > ? "
        "AND (c.revoked_at IS NULL OR c.revoked_at >= ?) ORDER BY c.id LIMIT ?"};
    return org.all(kPage, installation, after, shown_since, limit);
}

std::int64_t count_module_credentials(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kCount{
        "module_credentials.count",
        "SELECT COUNT(*) FROM module_credentials FORCE INDEX (installation) "
        "WHERE organization_id = :org AND installation_id = ? AND revoked_at IS NULL"};
    return org.value<std::int64_t>(kCount, installation);
}

std::optional<rules::ModuleCredential> find_module_credential(db::OrgStore& org,
                                                              InstallationId installation,
                                                              CredentialId id) {
    static constexpr OrgSql kFind{
        "module_credentials.find", kShownCredential,
        "SELECT {columns} FROM module_credentials c "
        "WHERE c.organization_id = :org AND c.id = ? AND c.installation_id = ?"};
    return org.one(kFind, id, installation);
}

bool lock_module_credential(db::OrgStore& org, InstallationId installation, CredentialId id) {
    static constexpr OrgSql kLock{
        "module_credentials.lock",
        "SELECT 1 FROM module_credentials "
        "WHERE organization_id = :org AND id = ? AND installation_id = ? FOR UPDATE"};
    return org.exists(kLock, id, installation);
}

bool revoke_module_credential(db::OrgStore& org, CredentialId id, Timestamp now) {
    static constexpr OrgSql kRevoke{
        "module_credentials.revoke",
        "UPDATE module_credentials SET revoked_at = ? "
        "WHERE organization_id = :org AND id = ? AND revoked_at IS NULL"};
    return org.execute(kRevoke, now, id) == 1;
}

bool lock_module_credential_to_touch(db::OrgStore& org, CredentialId id, Timestamp unless_since) {
    static constexpr OrgSql kLock{
        "module_credentials.lock_to_touch",
        "SELECT 1 FROM module_credentials WHERE organization_id = :org AND id = ? "
        "AND (last_used_at IS NULL OR last_used_at < ?) FOR UPDATE SKIP LOCKED"};
    return org.exists(kLock, id, unless_since);
}

void touch_module_credential(db::OrgStore& org, CredentialId id, Timestamp now) {
    static constexpr OrgSql kTouch{
        "module_credentials.touch",
        "UPDATE module_credentials SET last_used_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kTouch, now, id);
}

}  // namespace muster::store
