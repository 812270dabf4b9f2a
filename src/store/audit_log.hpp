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

// Entries from `least` up to, but not including, `end`; nullopt = no bound. Ids are UUIDv7, so they
// are ordered by time.
struct AuditRange {
    std::optional<AuditId> least;
    std::optional<AuditId> end;
};
// Conditions on the entries; nullopt = any.
struct AuditConditions {
    std::optional<std::string> action;
    std::optional<std::string> action_prefix;
    std::optional<std::string> subject_id;
    std::optional<rules::AuditActor> actor;
    std::optional<AdminId> actor_id;
    std::optional<Timestamp> since;  // at that time or later
    std::optional<Timestamp> until;  // before that time
};
// Newest first.
std::vector<rules::AuditEntry> page_audit_log(db::OrgStore& org, const AuditRange& range,
                                              const AuditConditions& conditions, int limit);
// The entry at this position (1 or more) from the end of the range, whatever its values. nullopt if
// the range has fewer entries.
std::optional<AuditId> find_audit_entry_at(db::OrgStore& org, const AuditRange& range,
                                           int position);
// The newest entries of all organizations and of the installation.
std::vector<rules::AuditEntry> newest_audit_entries(db::Tx& tx,
                                                    const std::optional<std::string>& action,
                                                    int limit);

}  // namespace muster::store
