// Serves /v1/audit-log: what admins did in the organization, and operators with it (docs/api.md
// "Audit log").
#include "api/groups.hpp"
#include "service/audit.hpp"

namespace muster::api {
namespace {

using rules::AuditEntry;

constexpr auto kAuditEntry = record<AuditEntry>(
    "AuditEntry", field<&AuditEntry::id>("id"), field<&AuditEntry::actor>("actor"),
    field<&AuditEntry::actor_id>("actor_id"), field<&AuditEntry::actor_email>("actor_email"),
    field<&AuditEntry::action>("action"), field<&AuditEntry::subject_id>("subject_id"),
    RecordField<AuditEntry>{"details",
                            [](JsonWriter& to, const AuditEntry& entry) { to.raw(entry.details); },
                            JsonType<RawJson>::schema},
    field<&AuditEntry::request_id>("request_id"), field<&AuditEntry::created_at>("created_at"));

auto list_audit_log(Call& call) {
    const auto before = call.cursor_id<AuditId>();
    auto entries =
        service::list_audit_log(call.context, call.org(), before, call.query.text("action"),
                                call.query.text("subject_id"), call.query.integer("limit"));
    return page_of(call, std::move(entries));
}

constexpr std::array kListQuery = {
    page_limit("Entries a page."),
    kPageCursor,
    QueryParameter{.name = "action", .meaning = "Only this action, such as api_key.revoked."},
    QueryParameter{.name = "subject_id", .meaning = "Only what was done to this subject."},
};

constexpr auto kAuditLog = list_of<kAuditEntry>("AuditLog", "audit_log");

constexpr std::array kEndpoints = {
    Endpoint{.method = http::Method::Get,
             .path = "/v1/audit-log",
             .operation = "listAuditLog",
             .summary = "List what admins and operators did, newest first",
             .access = Access::Admin,
             .query = kListQuery,
             .reply = {200, "A page of entries."},
             .handler = answers<kAuditLog, list_audit_log>},
};
static_assert(well_formed(kEndpoints, "/v1/audit-log"));

}  // namespace

std::span<const Endpoint> audit_log_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
