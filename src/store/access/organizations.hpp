// Organizations, the tenants.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/organizations.hpp"

#include <vector>

namespace muster::store {

void insert_organization(db::Tx& tx, const rules::Organization& organization);
std::vector<rules::Organization> list_organizations(db::Tx& tx);
bool organization_exists(db::OrgStore& org);
// Until the transaction ends: who counts an organization's records before adding one holds it. A
// row that refers to the organization waits meanwhile, so hold it shortly. False when there is
// none.
bool lock_organization(db::OrgStore& org);

}  // namespace muster::store
