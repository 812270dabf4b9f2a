// The audit log (table audit_log).
#pragma once

#include "db/transaction.hpp"
#include "rules/audit.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::store {

// Entries of any organizations. One without an organization concerns the installation, and no
// organization can read it.
void insert_audit_entries(db::Tx& tx, std::span<const rules::AuditEntry> entries);

// Looks for an entry that does not exist, where a new one would be: about the work of an entry
// without the entry.
void look_for_no_audit_entry(db::Tx& tx, AuditId id);

struct AuditFilter {
    std::optional<std::string> action;
    std::optional<std::string> subject_id;
};
// Newest first, from the entry before `before` if it is given.
std::vector<rules::AuditEntry> page_audit_log(db::OrgStore& org, std::optional<AuditId> before,
                                              const AuditFilter& filter, int limit);
// The newest entries of all organizations and of the installation.
std::vector<rules::AuditEntry> newest_audit_entries(db::Tx& tx,
                                                    const std::optional<std::string>& action,
                                                    int limit);

}  // namespace muster::store
