#include "store/modules/installations.hpp"

#include "store/stored_json.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;
using rules::Installation;
using rules::InstallationStatus;

namespace {

constexpr auto kInstallation = columns<Installation>(
    column<&Installation::organization_id>("organization_id"), column<&Installation::id>("id"),
    column<&Installation::module_id>("module_id"), column<&Installation::version_id>("version_id"),
    column<&Installation::status>("status"),
    converted<stored_object, &Installation::config>("config"),
    column<&Installation::installed_by>("installed_by"),
    column<&Installation::installed_by_email>(
        "(SELECT e.email FROM admins e WHERE e.id = installed_by)"),
    column<&Installation::installed_at>("installed_at"),
    column<&Installation::created_at>("created_at"),
    column<&Installation::updated_at>("updated_at"));

constexpr auto kSealedInstallation = columns<SealedInstallation>(
    nested<&SealedInstallation::installation>(kInstallation),
    converted<or_empty<std::string>, &SealedInstallation::secrets>("config_secrets"));

}  // namespace

bool insert_installation(db::OrgStore& org, const Installation& installation,
                         std::string_view sealed_secrets) {
    static constexpr OrgSql kInsert{
        "installations.insert",
        "INSERT INTO module_installations (organization_id, id, module_id, version_id, status, "
        "config, config_secrets, installed_by, installed_at, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::try_unique([&] {
        org.execute(kInsert, installation.id, installation.module_id, installation.version_id,
                    text_of(installation.status), installation.config.text,
                    Param::text_or_null(sealed_secrets), installation.installed_by,
                    installation.installed_at, installation.created_at, installation.updated_at);
    });
}

std::optional<Installation> find_installation(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kFind{"installations.find", kInstallation,
                                  "SELECT {columns} FROM module_installations "
                                  "WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<SealedInstallation> find_sealed_installation(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kFind{"installations.find_sealed", kSealedInstallation,
                                  "SELECT {columns} FROM module_installations "
                                  "WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<Installation> lock_installation(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kLock{"installations.lock", kInstallation,
                                  "SELECT {columns} FROM module_installations "
                                  "WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<Installation> page_installations(db::OrgStore& org, InstallationId after, int limit) {
    static constexpr OrgSql kPage{
        "installations.page", kInstallation,
        "SELECT {columns} FROM module_installations FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND id > ? ORDER BY id LIMIT ?"};
    return org.all(kPage, after, limit);
}

std::string find_config_secrets(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kFind{"installations.find_secrets",
                                  "SELECT config_secrets FROM module_installations "
                                  "WHERE organization_id = :org AND id = ?"};
    return or_empty(or_empty(org.one<std::optional<std::string>>(kFind, id)));
}

void set_installation_config(db::OrgStore& org, const Installation& installation,
                             std::string_view sealed_secrets) {
    static constexpr OrgSql kSet{
        "installations.set_config",
        "UPDATE module_installations SET version_id = ?, config = ?, config_secrets = ?, "
        "updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, installation.version_id, installation.config.text,
                Param::text_or_null(sealed_secrets), installation.updated_at, installation.id);
}

bool set_installation_status(db::OrgStore& org, InstallationId id, InstallationStatus status,
                             Timestamp now) {
    static constexpr OrgSql kSet{"installations.set_status",
                                 "UPDATE module_installations SET status = ?, updated_at = ? "
                                 "WHERE organization_id = :org AND id = ?"};
    return db::try_unique([&] { org.execute(kSet, text_of(status), now, id); });
}

}  // namespace muster::store
