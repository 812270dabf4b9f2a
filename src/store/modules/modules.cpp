#include "store/modules/modules.hpp"

#include "store/stored_json.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using rules::Module;
using rules::ModuleVersion;

namespace {

constexpr auto kVersion = columns<ModuleVersion>(
    column<&ModuleVersion::id>("id"), column<&ModuleVersion::module_id>("module_id"),
    column<&ModuleVersion::version>("version"),
    converted<stored_object, &ModuleVersion::manifest>("manifest"),
    column<&ModuleVersion::status>("status"), column<&ModuleVersion::published_at>("published_at"),
    column<&ModuleVersion::created_at>("created_at"),
    column<&ModuleVersion::updated_at>("updated_at"));

constexpr auto kModule = columns<Module>(
    column<&Module::owner_organization_id>("organization_id"), column<&Module::id>("id"),
    column<&Module::slug>("slug"), column<&Module::name>("name"), column<&Module::vendor>("vendor"),
    column<&Module::kind>("kind"), column<&Module::status>("status"),
    column<&Module::current_version_id>("current_version_id"),
    column<&Module::created_at>("created_at"), column<&Module::updated_at>("updated_at"));

}  // namespace

bool insert_module(db::OrgStore& org, const Module& module,
                   const std::optional<AdminId>& created_by) {
    static constexpr OrgSql kInsert{
        "modules.insert",
        "INSERT INTO modules (organization_id, id, slug, name, vendor, kind, status, created_by, "
        "created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    return db::try_unique([&] {
        org.execute(kInsert, module.id, module.slug, module.name, module.vendor,
                    text_of(module.kind), text_of(module.status), created_by, module.created_at,
                    module.updated_at);
    });
}

std::int64_t count_modules(db::OrgStore& org) {
    static constexpr OrgSql kCount{"modules.count",
                                   "SELECT COUNT(*) FROM modules WHERE organization_id = :org"};
    return org.value<std::int64_t>(kCount);
}

std::optional<Module> find_module(db::OrgStore& org, ModuleId id) {
    static constexpr OrgSql kFind{
        "modules.find", kModule,
        "SELECT {columns} FROM modules WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<Module> lock_module(db::OrgStore& org, ModuleId id) {
    static constexpr OrgSql kLock{
        "modules.lock", kModule,
        "SELECT {columns} FROM modules WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<Module> page_modules(db::OrgStore& org, ModuleId after, int limit) {
    static constexpr OrgSql kPage{"modules.page", kModule,
                                  "SELECT {columns} FROM modules FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, after, limit);
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
    return db::try_unique([&] {
        org.execute(kInsert, version.id, version.module_id, version.version, version.manifest.text,
                    text_of(version.status), created_by, version.created_at, version.updated_at);
    });
}

std::int64_t count_versions(db::OrgStore& org, ModuleId module) {
    static constexpr OrgSql kCount{"module_versions.count",
                                   "SELECT COUNT(*) FROM module_versions FORCE INDEX (module) "
                                   "WHERE organization_id = :org AND module_id = ?"};
    return org.value<std::int64_t>(kCount, module);
}

std::optional<ModuleVersion> find_version(db::OrgStore& org, ModuleId module, VersionId id) {
    static constexpr OrgSql kFind{"module_versions.find", kVersion,
                                  "SELECT {columns} FROM module_versions "
                                  "WHERE organization_id = :org AND id = ? AND module_id = ?"};
    return org.one(kFind, id, module);
}

std::optional<ModuleVersion> lock_version(db::OrgStore& org, ModuleId module, VersionId id) {
    static constexpr OrgSql kLock{
        "module_versions.lock", kVersion,
        "SELECT {columns} FROM module_versions "
        "WHERE organization_id = :org AND id = ? AND module_id = ? FOR UPDATE"};
    return org.one(kLock, id, module);
}

std::vector<ModuleVersion> page_versions(db::OrgStore& org, ModuleId module, VersionId after,
                                         int limit) {
    static constexpr OrgSql kPage{"module_versions.page", kVersion,
                                  "SELECT {columns} FROM module_versions FORCE INDEX (module) "
                                  "WHERE organization_id = :org AND module_id = ? AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, module, after, limit);
}

void publish_version(db::OrgStore& org, VersionId id, Timestamp now) {
    static constexpr OrgSql kPublish{
        "module_versions.publish",
        "UPDATE module_versions SET status = 'published', published_at = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kPublish, now, now, id);
}

}  // namespace muster::store
