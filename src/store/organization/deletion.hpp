// Deletes an organization: its rows table by table, a bounded number at a time, and then itself.
#pragma once

#include "db/transaction.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::store {

// ---- the request

// Returns false if the deletion was requested before. The organization must exist and be disabled.
bool insert_organization_deletion(db::OrgStore& org, Timestamp now);
// Those of the organizations after this one, in the order of their ids.
std::vector<OrgId> list_organization_deletions(db::Tx& tx, OrgId after, int limit);
// Locks the deletion until the transaction ends, so that runners take turns. False if the
// organization is no longer being deleted, or does not exist any more.
bool lock_organization_deletion(db::OrgStore& org);
void add_deleted_rows(db::OrgStore& org, std::int64_t rows);
// The rows that were deleted so far. nullopt if the organization is not being deleted.
std::optional<std::int64_t> find_deleted_rows(db::OrgStore& org);

// ---- the rows

// A table whose rows belong to an organization.
struct TenantTable {
    std::string_view name;
    // The number of rows, counted up to `most`.
    std::int64_t (*count)(db::OrgStore& org, std::int64_t most);
    // Deletes at most `limit` rows; returns their number. Fewer than `limit`: no further row can be
    // deleted now.
    std::int64_t (*erase)(db::Tx& tx, db::OrgStore& org, int limit);
    int at_once;  // rows of a transaction
};
// All tables that name an organization, except organization_deletions, in an order in which no row
// is referenced when it is deleted.
std::span<const TenantTable> tenant_tables();

// The connections are disconnected: the runner revokes their tokens and deletes them.
void remove_all_connections(db::OrgStore& org, Timestamp now);

// Deletes the record of the organization and of its deletion. Returns false, and changes nothing,
// if a row of the organization is left.
bool delete_organization(db::Tx& tx, db::OrgStore& org);

}  // namespace muster::store
