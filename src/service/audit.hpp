// The audit log (docs/api/audit-log.md "Audit log"): actions of admins and operators and automatic
// decisions of Muster, written in the transaction of the action. Actions of organization keys are
// not logged because there are too many.
#pragma once

#include "service/context.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::rules {
enum class AuditActor : std::uint8_t;
struct AuditEntry;
}  // namespace muster::rules

namespace muster::service {

// Flat. Must not contain secrets or email addresses.
using AuditDetails = std::initializer_list<std::pair<std::string_view, std::string>>;

// Logs an action of the transaction's admin; does nothing for a key. `action` is "<noun>.<verb in
// the past>" ("api_key.revoked"); `subject_id` identifies the object of the action.
void audit(OrgTransaction& transaction, std::string_view action, std::string_view subject_id = "",
           AuditDetails details = {});

// The same for actions of several callers, with one statement.
struct AuditedAction {
    const Actor* actor;
    std::string action;
    std::string subject_id;
};
void audit(db::Tx& tx, std::span<const AuditedAction> actions, Timestamp now);

// The same for an admin outside an OrgTransaction (sign-in), in the log of `organization`.
void audit_admin(db::Tx& tx, OrgId organization, AdminId admin, std::string_view request_id,
                 std::string_view action, AuditDetails details, Timestamp now);

// Throws QUOTA_EXCEEDED if the admins of the organization have filled its log for today. Called
// before their requests that write, except deletions: an action that cannot be logged is not done.
void reject_full_audit_log(Context& context, OrgId organization);

// Logs an action of the operator (musterctl). With nullopt, the action concerns the installation
// only.
void audit_operator(db::Tx& tx, const std::optional<OrgId>& organization, std::string_view action,
                    std::string_view subject_id, AuditDetails details, Timestamp now);

// Logs an automatic decision of Muster (the runner) for the organization.
void audit_system(OrgTransaction& transaction, std::string_view action, std::string_view subject_id,
                  AuditDetails details);

// Logs a rejected code of an admin's sign-in in each of the organizations. `factor` is
// "mail_code" or "second_factor". The actor is Muster: who sent the code is not known. Without
// organizations it logs nothing, but runs as many statements. `unlogged`: how many codes before
// this one had no entry.
void audit_refused_sign_in(db::Tx& tx, std::span<const OrgId> organizations, AdminId admin,
                           std::string_view factor, std::string_view request_id, Timestamp now,
                           std::size_t unlogged = 0);

// Which entries to list; nullopt = any.
struct AuditFilter {
    std::optional<std::string> action = {};  // one that ends with "." matches all that begin so
    std::optional<std::string> subject_id = {};
    std::optional<rules::AuditActor> actor = {};
    std::optional<AdminId> actor_id = {};
    std::optional<Timestamp> since = {};  // at that time or later
    std::optional<Timestamp> until = {};  // before that time

    bool operator==(const AuditFilter&) const = default;
};

// The number of entries that a page examines at most for a filter.
inline constexpr int kMostAuditExamined = 5'000;

struct AuditPage {
    std::vector<rules::AuditEntry> entries;
    std::optional<AuditId> next;  // pass it as `before` to get the next page; nullopt: the last one
};

// The organization's log with the names of the records, newest first, from before the entry
// `before` on. A filtered page may hold fewer than `limit` entries although more follow, because it
// examines at most `most_examined`.
AuditPage list_audit_log(Context& context, OrgId organization, std::optional<AuditId> before,
                         const AuditFilter& filter, int limit,
                         int most_examined = kMostAuditExamined);

// The newest entries of one organization's log. With nullopt, of all logs including the
// installation's.
std::vector<rules::AuditEntry> newest_audit_entries(Context& context,
                                                    const std::optional<OrgId>& organization,
                                                    const std::optional<std::string>& action,
                                                    int limit);

}  // namespace muster::service
