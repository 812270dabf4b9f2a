// Private modules and their versions: made as drafts, published once their manifest keeps the
// module contract, deprecated (specification 2.6, 2.7, 3.3; docs/modules.md "Modules"). All are the
// organization's own.
#pragma once

#include "rules/modules/modules.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostModules = 200;   // of an organization
inline constexpr std::int64_t kMostVersions = 500;  // of a module

struct NewModule {
    std::string slug;
    std::string name;
    std::string vendor;
};

// A draft. Throws CONFLICT (details.field) for a slug that is taken, INVALID_STATE once there are
// too many.
rules::Module create_module(OrgTransaction& transaction, const NewModule& in);

std::optional<rules::Module> find_module(Context& context, OrgId organization, ModuleId id);
// By id behind `after`, at most `limit`.
std::vector<rules::Module> list_modules(Context& context, OrgId organization,
                                        std::optional<ModuleId> after, int limit);

struct NewVersion {
    std::string version;
    RawJson manifest;  // an object
};

// A draft, whatever its manifest says. Throws NOT_FOUND for the module, CONFLICT (details.field)
// for a version that is taken, INVALID_STATE once there are too many.
rules::ModuleVersion create_version(OrgTransaction& transaction, ModuleId module,
                                    const NewVersion& in);

// By id behind `after`, at most `limit`. Throws NOT_FOUND for the module.
std::vector<rules::ModuleVersion> list_versions(Context& context, OrgId organization,
                                                ModuleId module, std::optional<VersionId> after,
                                                int limit);

// The version becomes the module's current one and never changes again. Throws NOT_FOUND,
// INVALID_STATE for a published version or a deprecated module, MANIFEST_INVALID with every fault.
rules::ModuleVersion publish_version(OrgTransaction& transaction, ModuleId module, VersionId id);

// No new installations; the old ones run on. Once more changes nothing. Throws NOT_FOUND, and
// INVALID_STATE for a draft.
rules::Module deprecate_module(OrgTransaction& transaction, ModuleId id);

}  // namespace muster::service
