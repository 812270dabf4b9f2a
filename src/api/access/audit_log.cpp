// Serves /v1/audit-log: actions of admins, the operator and Muster in the organization
// (docs/api/audit-log.md "Audit log").
#include "api/groups.hpp"
#include "rules/audit.hpp"
#include "service/audit.hpp"

namespace muster::api {
namespace {

using rules::AuditEntry;

constexpr auto kAuditEntry = record<AuditEntry>(
    "AuditEntry", field<&AuditEntry::id>("id", "Id of the entry."),
    field<&AuditEntry::actor>("actor", "admin, operator, or system for Muster itself."),
    field<&AuditEntry::actor_id>("actor_id",
                                 "Id of the admin; null for the operator and the system."),
    field<&AuditEntry::actor_email>(
        "actor_email", "Email address of the admin; null for the operator and the system.",
        "ada@example.org"),
    field<&AuditEntry::action>(
        "action", "The action, as a record and a verb; docs/api/audit-log.md lists the actions.",
        "api_key.rotated"),
    field<&AuditEntry::subject_id>(
        "subject_id", "Id or key of the record that was changed; null if there is none.",
        "019a9f3c-7b1e-7c44-9d5a-3f1f0a2b6c8d"),
    field<&AuditEntry::subject_name>(
        "subject_name",
        "What admins call the record now: a name, title, label, address, file name or URL; null if "
        "the record does not exist any longer, has no name, or is an organization.",
        "Membership sync"),
    field<&AuditEntry::subject_parents>(
        "subject_parents",
        "Ids of the records that the record belongs to, the outermost first: of a webhook delivery, "
        "its installation and its endpoint; of an endpoint or a credential, its installation; of a "
        "creative, its campaign."),
    RecordField<AuditEntry>{"details", "Details of the action, as texts by name.",
                            [](JsonWriter& to, const AuditEntry& entry) { to.raw(entry.details); },
                            [] { return map_of(JsonType<std::string>::schema()); },
                            R"({"role": "admin"})"},
    field<&AuditEntry::request_id>("request_id",
                                   "X-Request-Id of the request; null if there was none.",
                                   "5e723bdb552adf490e7ffda292e1bb9d"),
    field<&AuditEntry::created_at>("created_at", "Time of the action."));

auto list_audit_log(Call& call) {
    const auto actor = call.query.text("actor");
    const service::AuditFilter filter{call.query.text("action"),
                                      call.query.text("subject_id"),
                                      actor ? parse<rules::AuditActor>(*actor) : std::nullopt,
                                      call.query.id<AdminId>("actor_id"),
                                      call.query.timestamp("since"),
                                      call.query.timestamp("until")};
    auto page = service::list_audit_log(call.context, call.org(), call.cursor_id<AuditId>(), filter,
                                        call.query.integer("limit"));
    const auto next = page.next ? std::optional(std::string(page.next->bytes())) : std::nullopt;
    return page_of(call, std::move(page.entries), next);
}

constexpr std::array kAuditLogListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "action",
                   .least = 1,
                   .meaning =
                       "Only this action, such as api_key.revoked. A text that ends with a dot, "
                       "such as api_key., selects all actions that begin with it."},
    QueryParameter{.name = "subject_id", .least = 1, .meaning = "Only actions on this subject."},
    QueryParameter{.name = "actor",
                   .choice = name_at<rules::AuditActor>,
                   .meaning = "Only actions of admins, of the operator, or of Muster itself."},
    QueryParameter{.name = "actor_id",
                   .kind = QueryParameter::Kind::Uuid,
                   .meaning = "Only actions of this admin."},
    QueryParameter{.name = "since",
                   .kind = QueryParameter::Kind::Timestamp,
                   .meaning = "Only actions at this time or later."},
    QueryParameter{.name = "until",
                   .kind = QueryParameter::Kind::Timestamp,
                   .meaning = "Only actions before this time."},
};

constexpr auto kAuditLog = list_of<kAuditEntry>("AuditLog", "audit_log");

constexpr std::array kAuditLogEndpoints = {
    Endpoint{
        .method = http::Method::Get,
        .path = "/v1/audit-log",
        .operation = "listAuditLog",
        .summary = "List the audit log, newest first",
        .description =
            "Lists actions of admins, the operator and Muster itself in the organization. Filters "
            "can be combined; a page may then be shorter than limit. Requests of API keys are not "
            "logged. Names of records are those of now. Entries are deleted after 400 days, unless "
            "the operator sets another time.",
        .access = Access::Admin,
        .query = kAuditLogListQuery,
        .reply = {200, "A page of entries."},
        .handler = answers<kAuditLog, list_audit_log>},
};
static_assert(well_formed(kAuditLogEndpoints, "/v1/audit-log"));

}  // namespace

std::span<const Endpoint> audit_log_endpoints() {
    return kAuditLogEndpoints;
}

}  // namespace muster::api
