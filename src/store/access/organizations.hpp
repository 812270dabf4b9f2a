// Organizations, the tenants.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

void insert_organization(db::Tx& tx, const rules::Organization& organization);
std::vector<rules::Organization> list_organizations(db::Tx& tx);
// Those of exactly this name, oldest first, at most `limit`.
std::vector<rules::Organization> find_organizations_named(db::Tx& tx, std::string_view name,
                                                          int limit);
std::optional<rules::Organization> find_organization(db::OrgStore& org);
// The same, locked until the transaction ends.
std::optional<rules::Organization> read_and_lock_organization(db::OrgStore& org);
void set_organization_name(db::OrgStore& org, std::string_view name);
// nullopt: enables it.
void set_organization_disabled(db::OrgStore& org, std::optional<Timestamp> since);
}  // namespace muster::store
