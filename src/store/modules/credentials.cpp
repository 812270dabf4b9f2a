#include "store/modules/credentials.hpp"

namespace muster::store {

using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

rules::ModuleCredential credential_of(const db::Rows& rows) {
    rules::ModuleCredential credential;
    credential.organization_id = rows.id<OrgId>(1);
    credential.id = rows.id<CredentialId>(2);
    credential.installation_id = rows.id<InstallationId>(3);
    credential.name = rows.bytes(4);
    credential.last_four = rows.bytes(5);
    credential.created_by = rows.optional_id<AdminId>(6);
    credential.created_at = rows.timestamp(7);
    credential.last_used_at = rows.optional_timestamp(8);
    credential.expires_at = rows.optional_timestamp(9);
    credential.revoked_at = rows.optional_timestamp(10);
    return credential;
}

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

std::optional<FoundCredential> find_module_credential(db::Tx& tx, std::string_view secret_hash) {
    // With the installation's state in the same statement: a disabled one lets nobody in at once.
    static constexpr SystemSql kFind{
        "module_credentials.find_by_secret", Why{"the credential is what tells the tenant"},
        "SELECT c.organization_id, c.id, c.installation_id, c.name, c.last_four, c.created_by, "
        "c.created_at, c.last_used_at, c.expires_at, c.revoked_at, c.signing_secret, "
        "i.status = 'disabled' FROM module_credentials c "
        "JOIN module_installations i "
        "ON i.organization_id = c.organization_id AND i.id = c.installation_id "
        "WHERE c.secret_hash = ?"};
    auto rows = tx.query(kFind, secret_hash);
    if (!rows.next()) return std::nullopt;
    return FoundCredential{credential_of(rows), rows.bytes(11), rows.integer(12) != 0};
}

std::vector<rules::ModuleCredential> page_module_credentials(db::OrgStore& org,
                                                             InstallationId installation,
                                                             CredentialId after,
                                                             Timestamp shown_since, int limit) {
    static constexpr OrgSql kPage{
        "module_credentials.page",
        "SELECT organization_id, id, installation_id, name, last_four, created_by, created_at, "
        "last_used_at, expires_at, revoked_at FROM module_credentials "
        "WHERE organization_id = :org AND installation_id = ? AND id > ? "
        "AND (revoked_at IS NULL OR revoked_at >= ?) ORDER BY id LIMIT ?"};
    std::vector<rules::ModuleCredential> list;
    for (auto rows = org.query(kPage, installation, after, shown_since, limit); rows.next();) {
        list.push_back(credential_of(rows));
    }
    return list;
}

std::int64_t count_module_credentials(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kCount{
        "module_credentials.count",
        "SELECT COUNT(*) FROM module_credentials "
        "WHERE organization_id = :org AND installation_id = ? AND revoked_at IS NULL"};
    auto rows = org.query(kCount, installation);
    rows.next();
    return rows.integer(1);
}

bool lock_module_credential(db::OrgStore& org, InstallationId installation, CredentialId id) {
    static constexpr OrgSql kLock{
        "module_credentials.lock",
        "SELECT 1 FROM module_credentials "
        "WHERE organization_id = :org AND id = ? AND installation_id = ? FOR UPDATE"};
    return org.query(kLock, id, installation).next();
}

bool revoke_module_credential(db::OrgStore& org, CredentialId id, Timestamp now) {
    static constexpr OrgSql kRevoke{
        "module_credentials.revoke",
        "UPDATE module_credentials SET revoked_at = ? "
        "WHERE organization_id = :org AND id = ? AND revoked_at IS NULL"};
    return org.execute(kRevoke, now, id) == 1;
}

void touch_module_credential(db::OrgStore& org, CredentialId id, Timestamp now,
                             Timestamp unless_since) {
    static constexpr OrgSql kTouch{
        "module_credentials.touch",
        "UPDATE module_credentials SET last_used_at = ? WHERE organization_id = :org "
        "AND id = ? AND (last_used_at IS NULL OR last_used_at < ?)"};
    org.execute(kTouch, now, id, unless_since);
}

}  // namespace muster::store
