// Modules and their versions.
#pragma once

#include "db/transaction.hpp"
#include "rules/modules/modules.hpp"

#include <optional>
#include <vector>

namespace muster::store {

// False if the organization already has a module with this slug.
[[nodiscard]] bool insert_module(db::OrgStore& org, const rules::Module& module,
                                 const std::optional<AdminId>& created_by);
std::int64_t count_modules(db::OrgStore& org);
std::optional<rules::Module> find_module(db::OrgStore& org, ModuleId id);
// Locked until the transaction ends. Lock a module before its versions and installations.
std::optional<rules::Module> lock_module(db::OrgStore& org, ModuleId id);
// Ordered by id, after `after`.
std::vector<rules::Module> page_modules(db::OrgStore& org, ModuleId after, int limit);
// Writes status, current version and updated_at.
void update_module(db::OrgStore& org, const rules::Module& module);

// False if the module already has a version with this name.
[[nodiscard]] bool insert_version(db::OrgStore& org, const rules::ModuleVersion& version,
                                  const std::optional<AdminId>& created_by);
std::int64_t count_versions(db::OrgStore& org, ModuleId module);
// nullopt also if the version belongs to another module.
std::optional<rules::ModuleVersion> find_version(db::OrgStore& org, ModuleId module, VersionId id);
// The same, locked until the transaction ends.
std::optional<rules::ModuleVersion> lock_version(db::OrgStore& org, ModuleId module, VersionId id);
// Ordered by id, after `after`.
std::vector<rules::ModuleVersion> page_versions(db::OrgStore& org, ModuleId module, VersionId after,
                                                int limit);
void publish_version(db::OrgStore& org, VersionId id, Timestamp now);

}  // namespace muster::store
