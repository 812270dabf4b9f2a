// Private modules and their versions.
#pragma once

#include "db/transaction.hpp"
#include "rules/modules/modules.hpp"

#include <optional>
#include <vector>

namespace muster::store {

// False when the organization has a module of that slug.
[[nodiscard]] bool insert_module(db::OrgStore& org, const rules::Module& module,
                                 const std::optional<AdminId>& created_by);
std::int64_t count_modules(db::OrgStore& org);
std::optional<rules::Module> find_module(db::OrgStore& org, ModuleId id);
// Locked until the transaction ends; before any of its versions and installations.
std::optional<rules::Module> lock_module(db::OrgStore& org, ModuleId id);
// By id behind `after`.
std::vector<rules::Module> page_modules(db::OrgStore& org, ModuleId after, int limit);
// Writes status, current version and updated_at of the record.
void update_module(db::OrgStore& org, const rules::Module& module);

// False when the module has a version of that name.
[[nodiscard]] bool insert_version(db::OrgStore& org, const rules::ModuleVersion& version,
                                  const std::optional<AdminId>& created_by);
std::int64_t count_versions(db::OrgStore& org, ModuleId module);
// Locked until the transaction ends; nullopt for another module's version, too.
std::optional<rules::ModuleVersion> lock_version(db::OrgStore& org, ModuleId module, VersionId id);
// By id behind `after`.
std::vector<rules::ModuleVersion> page_versions(db::OrgStore& org, ModuleId module, VersionId after,
                                                int limit);
void publish_version(db::OrgStore& org, VersionId id, Timestamp now);

}  // namespace muster::store
