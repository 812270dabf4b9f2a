// Private modules of an organization and their versions: created as drafts, published if the
// manifest satisfies the module contract, deprecated (specification 2.6, 2.7, 3.3; docs/modules.md
// "Modules").
#pragma once

#include "rules/modules/modules.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::db {
class OrgStore;
}

namespace muster::service {

inline constexpr std::int64_t kMostModules = 200;   // per organization
inline constexpr std::int64_t kMostVersions = 500;  // per module

struct NewModule {
    std::string slug;
    std::string name;
    std::string vendor;
};

// Creates a draft. Throws CONFLICT (details.field) if the slug is taken, INVALID_STATE if the
// organization has kMostModules.
rules::Module create_module(OrgTransaction& transaction, const NewModule& in);

// Locks the module's row until the transaction ends. Throws NOT_FOUND.
rules::Module locked_module(db::OrgStore& org, ModuleId id);

std::optional<rules::Module> find_module(Context& context, OrgId organization, ModuleId id);
// At most `limit` modules with an id greater than `after`, ordered by id.
std::vector<rules::Module> list_modules(Context& context, OrgId organization,
                                        std::optional<ModuleId> after, int limit);

struct NewVersion {
    std::string version;
    RawJson manifest;  // a JSON object
};

// Creates a draft without validating the manifest. Throws NOT_FOUND for the module, CONFLICT
// (details.field) if the version is taken, INVALID_STATE if the module has kMostVersions.
rules::ModuleVersion create_version(OrgTransaction& transaction, ModuleId module,
                                    const NewVersion& in);

// At most `limit` versions with an id greater than `after`, ordered by id. Throws NOT_FOUND for the
// module.
std::vector<rules::ModuleVersion> list_versions(Context& context, OrgId organization,
                                                ModuleId module, std::optional<VersionId> after,
                                                int limit);

std::optional<rules::ModuleVersion> find_version(Context& context, OrgId organization,
                                                 ModuleId module, VersionId id);

// Publishes the version, which becomes the module's current version and never changes again. Throws
// NOT_FOUND, INVALID_STATE if the version is published or the module is deprecated,
// MANIFEST_INVALID with all faults.
rules::ModuleVersion publish_version(OrgTransaction& transaction, ModuleId module, VersionId id);

// Deprecates a module: it cannot be installed again, and existing installations continue to work. A
// deprecated module is not changed. Throws NOT_FOUND, and INVALID_STATE for a draft.
rules::Module deprecate_module(OrgTransaction& transaction, ModuleId id);

}  // namespace muster::service
