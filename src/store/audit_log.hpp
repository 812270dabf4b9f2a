// The audit log: who did what, when (table audit_log).
#pragma once

#include "db/transaction.hpp"
#include "rules/records.hpp"

#include <optional>

namespace muster::store {

// nullopt: an entry of the installation alone, which no organization reads.
void insert_audit_entry(db::Tx& tx, const std::optional<OrgId>& organization,
                        const rules::AuditEntry& entry);

}  // namespace muster::store
