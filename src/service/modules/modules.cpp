#include "service/modules/modules.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "rules/modules/manifest.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "service/versions.hpp"
#include "store/modules/modules.hpp"

namespace muster::service {
namespace {

using rules::ModuleStatus;
using rules::VersionStatus;

[[noreturn]] void reject_state(const std::string& reason) {
    throw Error(ErrorCode::InvalidState).detail("reason", reason);
}

void reject_invalid_manifest(const rules::Module& module, const rules::ModuleVersion& version) {
    Faults faults;
    rules::check_manifest(module.slug, version.manifest.text, faults);
    if (!faults.empty()) throw Error(ErrorCode::ManifestInvalid).fields(faults);
}

}  // namespace

rules::Module locked_module(db::OrgStore& org, ModuleId id) {
    auto module = store::lock_module(org, id);
    if (!module) throw Error(ErrorCode::NotFound);
    return std::move(*module);
}

rules::Module create_module(OrgTransaction& transaction, const NewModule& in) {
    db::OrgStore org(transaction.tx, transaction.org());
    lock_counts(org, transaction.now);
    if (store::count_modules(org) >= kMostModules) {
        reject_state("an organization has at most " + std::to_string(kMostModules) +
                     " modules; publish a new version of an existing one");
    }
    rules::Module module;
    module.id = ModuleId::create();
    module.owner_organization_id = transaction.org();
    module.slug = in.slug;
    module.name = in.name;
    module.vendor = in.vendor;
    module.created_at = module.updated_at = transaction.now;
    if (!store::insert_module(org, module, transaction.actor.admin)) {
        throw Error(ErrorCode::Conflict).detail("field", "slug");
    }
    audit(transaction, "module.created", module.id.text(), {{"slug", module.slug}});
    return module;
}

std::optional<rules::Module> find_module(Context& context, OrgId organization, ModuleId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_module(org, id);
    });
}

std::vector<rules::Module> list_modules(Context& context, OrgId organization,
                                        std::optional<ModuleId> after, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_modules(org, after.value_or(ModuleId()), limit);
    });
}

rules::ModuleVersion create_version(OrgTransaction& transaction, ModuleId module_id,
                                    const NewVersion& in) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto module = locked_module(org, module_id);
    if (store::count_versions(org, module.id) >= kMostVersions) {
        reject_state("a module has at most " + std::to_string(kMostVersions) +
                     " versions; create another module");
    }
    rules::ModuleVersion version;
    version.id = VersionId::create();
    version.module_id = module.id;
    version.version = in.version;
    version.manifest = in.manifest;
    version.created_at = version.updated_at = transaction.now;
    if (!store::insert_version(org, version, transaction.actor.admin)) {
        throw Error(ErrorCode::Conflict).detail("field", "version");
    }
    audit(transaction, "module.version_created", module.id.text(),
          {{"version_id", version.id.text()}, {"version", version.version}});
    return version;
}

std::vector<rules::ModuleVersion> list_versions(Context& context, OrgId organization,
                                                ModuleId module, std::optional<VersionId> after,
                                                int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        if (!store::find_module(org, module)) throw Error(ErrorCode::NotFound);
        return store::page_versions(org, module, after.value_or(VersionId()), limit);
    });
}

std::optional<rules::ModuleVersion> find_version(Context& context, OrgId organization,
                                                 ModuleId module, VersionId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_version(org, module, id);
    });
}

rules::ModuleVersion publish_version(OrgTransaction& transaction, ModuleId module_id,
                                     VersionId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto module = locked_module(org, module_id);
    auto version = store::lock_version(org, module_id, id);
    if (!version) throw Error(ErrorCode::NotFound);
    if (version->status == VersionStatus::Published)
        reject_state("the version is already published; create a new version to change it");
    if (module.status == ModuleStatus::Deprecated)
        reject_state("the module is deprecated; create another module");
    reject_invalid_manifest(module, *version);

    // Publications wait for each other, so one that began earlier may come later.
    const Timestamp now = next_version(module.updated_at, transaction.now);
    store::publish_version(org, id, now);
    version->status = VersionStatus::Published;
    version->published_at = version->updated_at = now;
    module.status = ModuleStatus::Published;
    module.current_version_id = id;
    module.updated_at = now;
    store::update_module(org, module);
    audit(transaction, "module.published", module_id.text(),
          {{"version_id", id.text()}, {"version", version->version}});
    return std::move(*version);
}

rules::Module deprecate_module(OrgTransaction& transaction, ModuleId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto module = locked_module(org, id);
    if (module.status == ModuleStatus::Deprecated) return module;
    if (module.status == ModuleStatus::Draft)
        reject_state("the module was never published; only a published one can be deprecated");
    module.status = ModuleStatus::Deprecated;
    module.updated_at = next_version(module.updated_at, transaction.now);
    store::update_module(org, module);
    audit(transaction, "module.deprecated", id.text());
    return module;
}

}  // namespace muster::service
