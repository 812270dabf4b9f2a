// Organizations, admins and their seats.
#pragma once

#include "db/transaction.hpp"
#include "rules/records.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

void insert_organization(db::Tx& tx, const rules::Organization& organization);
std::vector<rules::Organization> list_organizations(db::Tx& tx);
bool organization_exists(db::OrgStore& org);

// The admin of that address, made if there is none yet.
AdminId find_or_insert_admin(db::Tx& tx, std::string_view email, Timestamp now);
// False when the admin has a seat there already.
bool insert_seat(db::OrgStore& org, AdminId admin, std::string_view role, Timestamp now);

}  // namespace muster::store
