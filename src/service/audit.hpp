// The audit log: what admins and operators did, and what Muster decided in their stead, written in
// the transaction of the deed itself (docs/api/audit-log.md "Audit log"). What an organization's
// own key does is not in it: partners do that by the million.
#pragma once

#include "service/context.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::rules {
struct AuditEntry;
}

namespace muster::service {

// Flat, without secrets and addresses of mail.
using AuditDetails = std::initializer_list<std::pair<std::string_view, std::string>>;

// Notes a deed of the unit's admin in the organization's log; nothing for a key. `action` is
// "<noun>.<verb in the past>" ("api_key.revoked"), `subject_id` what it was done to.
void audit(OrgTransaction& transaction, std::string_view action, std::string_view subject_id = "",
           AuditDetails details = {});

// The same for an admin outside any organization's unit (sign-in), in the log of `organization`.
void audit_admin(db::Tx& tx, OrgId organization, AdminId admin, std::string_view request_id,
                 std::string_view action, AuditDetails details, Timestamp now);

// A deed of the operator's (musterctl); nullopt: it concerns the installation alone.
void audit_operator(db::Tx& tx, const std::optional<OrgId>& organization, std::string_view action,
                    std::string_view subject_id, AuditDetails details, Timestamp now);

// What Muster itself decided for the organization (the runner).
void audit_system(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                  AuditDetails details);

// The organization's log, newest first; up to `limit` + 1, where the last tells that there is more.
// Of one action or one subject if given.
std::vector<rules::AuditEntry> list_audit_log(Context& context, OrgId organization,
                                              std::optional<AuditId> before,
                                              const std::optional<std::string>& action,
                                              const std::optional<std::string>& subject_id,
                                              int limit);

// The newest of one organization's log, or of all and the installation's own (nullopt).
std::vector<rules::AuditEntry> newest_audit_entries(Context& context,
                                                    const std::optional<OrgId>& organization,
                                                    const std::optional<std::string>& action,
                                                    int limit);

}  // namespace muster::service
