#include "store/modules/installations.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using rules::Installation;
using rules::InstallationStatus;

namespace {

#define INSTALLATION_COLUMNS                                                     \
    "organization_id, id, module_id, version_id, status, config, installed_by, " \
    "installed_at, created_at, updated_at"

InstallationStatus status_of(std::string_view text) {
    for (const auto status : {InstallationStatus::Enabled, InstallationStatus::Disabled}) {
        if (text_of(status) == text) return status;
    }
    return InstallationStatus::Error;
}

Installation installation_of(const db::Rows& rows) {
    Installation installation;
    installation.organization_id = rows.id<OrgId>(1);
    installation.id = rows.id<InstallationId>(2);
    installation.module_id = rows.id<ModuleId>(3);
    installation.version_id = rows.id<VersionId>(4);
    installation.status = status_of(rows.bytes(5));
    installation.config.text = rows.bytes(6);
    installation.installed_by = rows.optional_id<AdminId>(7);
    installation.installed_at = rows.timestamp(8);
    installation.created_at = rows.timestamp(9);
    installation.updated_at = rows.timestamp(10);
    return installation;
}

std::optional<Installation> one_installation(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return installation_of(rows);
}

}  // namespace

bool insert_installation(db::OrgStore& org, const Installation& installation,
                         std::string_view sealed_secrets) {
    static constexpr OrgSql kInsert{
        "installations.insert",
        "INSERT INTO module_installations (organization_id, id, module_id, version_id, status, "
        "config, config_secrets, installed_by, installed_at, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::unless_taken([&] {
        org.execute(kInsert, installation.id, installation.module_id, installation.version_id,
                    text_of(installation.status), installation.config.text,
                    Param::text_or_null(sealed_secrets), installation.installed_by,
                    installation.installed_at, installation.created_at, installation.updated_at);
    });
}

std::optional<Installation> find_installation(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kFind{"installations.find", "SELECT " INSTALLATION_COLUMNS
                                                        " FROM module_installations "
                                                        "WHERE organization_id = :org AND id = ?"};
    return one_installation(org.query(kFind, id));
}

std::optional<Installation> lock_installation(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kLock{"installations.lock",
                                  "SELECT " INSTALLATION_COLUMNS
                                  " FROM module_installations "
                                  "WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return one_installation(org.query(kLock, id));
}

std::vector<Installation> page_installations(db::OrgStore& org, InstallationId after, int limit) {
    static constexpr OrgSql kPage{"installations.page",
                                  "SELECT " INSTALLATION_COLUMNS
                                  " FROM module_installations "
                                  "WHERE organization_id = :org AND id > ? ORDER BY id LIMIT ?"};
    std::vector<Installation> list;
    for (auto rows = org.query(kPage, after, limit); rows.next();) {
        list.push_back(installation_of(rows));
    }
    return list;
}

std::string find_config_secrets(db::OrgStore& org, InstallationId id) {
    static constexpr OrgSql kFind{"installations.find_secrets",
                                  "SELECT config_secrets FROM module_installations "
                                  "WHERE organization_id = :org AND id = ?"};
    auto rows = org.query(kFind, id);
    return rows.next() ? rows.text_or_empty(1) : std::string();
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
    return db::unless_taken([&] { org.execute(kSet, text_of(status), now, id); });
}

}  // namespace muster::store
