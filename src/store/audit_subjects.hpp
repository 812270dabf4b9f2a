// The names of the records that entries of an audit log are about.
#pragma once

#include "db/transaction.hpp"
#include "rules/audit_subjects.hpp"

#include <span>
#include <string>
#include <vector>

namespace muster::store {

// Those of the organization's records that exist. `ids` as in AuditSubject; one or more.
std::vector<rules::AuditSubject> find_audit_subjects(db::OrgStore& org, rules::SubjectKind kind,
                                                     std::span<const std::string> ids);

}  // namespace muster::store
