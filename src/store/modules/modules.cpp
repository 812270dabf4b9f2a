#include "store/modules/modules.hpp"

namespace muster::store {

using db::OrgSql;
using rules::Module;
using rules::ModuleKind;
using rules::ModuleStatus;
using rules::ModuleVersion;
using rules::VersionStatus;

namespace {

#define MODULE_COLUMNS                                                                        \
    "organization_id, id, slug, name, vendor, kind, status, current_version_id, created_at, " \
    "updated_at"
#define VERSION_COLUMNS \
    "id, module_id, version, manifest, status, published_at, created_at, updated_at"

ModuleKind kind_of(std::string_view text) {
    for (const auto kind : {ModuleKind::Proprietary, ModuleKind::InHouse}) {
        if (text_of(kind) == text) return kind;
    }
    return ModuleKind::ThirdParty;
}

ModuleStatus status_of(std::string_view text) {
    for (const auto status : {ModuleStatus::Draft, ModuleStatus::Published}) {
        if (text_of(status) == text) return status;
    }
    return ModuleStatus::Deprecated;
}

Module module_of(const db::Rows& rows) {
    Module module;
    module.owner_organization_id = rows.id<OrgId>(1);
    module.id = rows.id<ModuleId>(2);
    module.slug = rows.bytes(3);
    module.name = rows.bytes(4);
    module.vendor = rows.bytes(5);
    module.kind = kind_of(rows.bytes(6));
    module.status = status_of(rows.bytes(7));
    module.current_version_id = rows.optional_id<VersionId>(8);
    module.created_at = rows.timestamp(9);
    module.updated_at = rows.timestamp(10);
    return module;
}

std::optional<Module> one_module(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return module_of(rows);
}

ModuleVersion version_of(const db::Rows& rows) {
    ModuleVersion version;
    version.id = rows.id<VersionId>(1);
    version.module_id = rows.id<ModuleId>(2);
    version.version = rows.bytes(3);
    version.manifest.text = rows.bytes(4);
    version.status = rows.bytes(5) == text_of(VersionStatus::Published) ? VersionStatus::Published
                                                                        : VersionStatus::Draft;
    version.published_at = rows.optional_timestamp(6);
    version.created_at = rows.timestamp(7);
    version.updated_at = rows.timestamp(8);
    return version;
}

std::optional<ModuleVersion> one_version(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return version_of(rows);
}

std::int64_t number_of(db::Rows rows) {
    return rows.next() ? rows.integer(1) : 0;
}

}  // namespace

bool insert_module(db::OrgStore& org, const Module& module,
                   const std::optional<AdminId>& created_by) {
    static constexpr OrgSql kInsert{
        "modules.insert",
        "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, created_by, "
        "created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::unless_taken([&] {
        org.execute(kInsert, module.id, module.slug, module.name, module.vendor,
                    text_of(module.kind), text_of(module.status), created_by, module.created_at,
                    module.updated_at);
    });
}

std::int64_t count_modules(db::OrgStore& org) {
    static constexpr OrgSql kCount{"modules.count",
                                   "SELECT COUNT(*) FROM modules WHERE organization_id = :org"};
    return number_of(org.query(kCount));
}

std::optional<Module> find_module(db::OrgStore& org, ModuleId id) {
    static constexpr OrgSql kFind{"modules.find",
                                  "SELECT " MODULE_COLUMNS
                                  " FROM modules WHERE organization_id = :org AND id = ?"};
    return one_module(org.query(kFind, id));
}

std::optional<Module> lock_module(db::OrgStore& org, ModuleId id) {
    static constexpr OrgSql kLock{
        "modules.lock", "SELECT " MODULE_COLUMNS
                        " FROM modules WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return one_module(org.query(kLock, id));
}

std::vector<Module> page_modules(db::OrgStore& org, ModuleId after, int limit) {
    static constexpr OrgSql kPage{"modules.page",
                                  "SELECT " MODULE_COLUMNS
                                  " FROM modules WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    std::vector<Module> list;
    for (auto rows = org.query(kPage, after, limit); rows.next();) {
        list.push_back(module_of(rows));
    }
    return list;
}

void update_module(db::OrgStore& org, const Module& module) {
    static constexpr OrgSql kUpdate{
        "modules.update",
        "UPDATE modules SET status = ?, current_version_id = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kUpdate, text_of(module.status), module.current_version_id, module.updated_at,
                module.id);
}

bool insert_version(db::OrgStore& org, const ModuleVersion& version,
                    const std::optional<AdminId>& created_by) {
    static constexpr OrgSql kInsert{
        "module_versions.insert",
        "INSERT INTO module_versions (organization_id, id, module_id, version, manifest, status, "
        "created_by, created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::unless_taken([&] {
        org.execute(kInsert, version.id, version.module_id, version.version, version.manifest.text,
                    text_of(version.status), created_by, version.created_at, version.updated_at);
    });
}

std::int64_t count_versions(db::OrgStore& org, ModuleId module) {
    static constexpr OrgSql kCount{
        "module_versions.count",
        "SELECT COUNT(*) FROM module_versions WHERE organization_id = :org AND module_id = ?"};
    return number_of(org.query(kCount, module));
}

std::optional<ModuleVersion> lock_version(db::OrgStore& org, ModuleId module, VersionId id) {
    static constexpr OrgSql kLock{
        "module_versions.lock",
        "SELECT " VERSION_COLUMNS
        " FROM module_versions "
        "WHERE organization_id = :org AND id = ? AND module_id = ? FOR UPDATE"};
    return one_version(org.query(kLock, id, module));
}

std::vector<ModuleVersion> page_versions(db::OrgStore& org, ModuleId module, VersionId after,
                                         int limit) {
    static constexpr OrgSql kPage{
        "module_versions.page",
        "SELECT " VERSION_COLUMNS
        " FROM module_versions WHERE organization_id = :org AND module_id = ? AND id > ? "
        "ORDER BY id LIMIT ?"};
    std::vector<ModuleVersion> list;
    for (auto rows = org.query(kPage, module, after, limit); rows.next();) {
        list.push_back(version_of(rows));
    }
    return list;
}

void publish_version(db::OrgStore& org, VersionId id, Timestamp now) {
    static constexpr OrgSql kPublish{
        "module_versions.publish",
        "UPDATE module_versions SET status = 'published', published_at = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kPublish, now, now, id);
}

}  // namespace muster::store
