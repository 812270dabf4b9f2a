#include "store/audit_log.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::Rows;
using db::SystemSql;
using db::Why;

namespace {

#define ENTRY_COLUMNS                                                                            \
    "l.organization_id, l.id, l.actor, l.actor_id, a.email, l.action, l.subject_id, l.details, " \
    "l.request_id, l.created_at"
#define WITH_ADMINS " LEFT JOIN admins a ON a.id = l.actor_id "

rules::AuditActor actor_of(std::string_view text) {
    using rules::AuditActor;
    for (const AuditActor actor : {AuditActor::Admin, AuditActor::System}) {
        if (text_of(actor) == text) return actor;
    }
    return AuditActor::Operator;
}

rules::AuditEntry entry_of(const Rows& rows) {
    rules::AuditEntry entry;
    entry.organization_id = rows.optional_id<OrgId>(1);
    entry.id = rows.id<AuditId>(2);
    entry.actor = actor_of(rows.bytes(3));
    entry.actor_id = rows.optional_id<AdminId>(4);
    entry.actor_email = rows.optional_text(5);
    entry.action = rows.bytes(6);
    entry.subject_id = rows.optional_text(7);
    entry.details = rows.bytes(8);
    entry.request_id = rows.optional_text(9);
    entry.created_at = rows.timestamp(10);
    return entry;
}

std::vector<rules::AuditEntry> entries_of(Rows rows) {
    std::vector<rules::AuditEntry> entries;
    while (rows.next()) entries.push_back(entry_of(rows));
    return entries;
}

}  // namespace

void insert_audit_entry(db::Tx& tx, const std::optional<OrgId>& organization,
                        const rules::AuditEntry& entry) {
    static constexpr SystemSql kInsert{
        "audit_log.insert", Why{"what concerns the installation alone belongs to no tenant"},
        "INSERT INTO audit_log (organization_id, id, actor, actor_id, action, subject_id, details, "
        "request_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    tx.execute(kInsert, organization, entry.id, text_of(entry.actor), entry.actor_id, entry.action,
               Param::text_or_null(entry.subject_id.value_or("")), entry.details,
               Param::text_or_null(entry.request_id.value_or("")), entry.created_at);
}

std::vector<rules::AuditEntry> page_audit_log(db::OrgStore& org, std::optional<AuditId> before,
                                              const AuditFilter& filter, int limit) {
    // Ids are UUIDv7: their order is the order of the deeds. Without the hint the optimizer takes
    // the organization alone from the index, and a deep page reads all the newer entries.
    static constexpr OrgSql kPage{"audit_log.page",
                                  "SELECT " ENTRY_COLUMNS
                                  " FROM audit_log l FORCE INDEX (organization)" WITH_ADMINS
                                  "WHERE l.organization_id = :org AND l.id < ? "
                                  "AND (? IS NULL OR l.action = ?) "
                                  "AND (? IS NULL OR l.subject_id = ?) ORDER BY l.id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    return entries_of(org.query(kPage, bound, filter.action, filter.action, filter.subject_id,
                                filter.subject_id, limit));
}

std::vector<rules::AuditEntry> newest_audit_entries(db::Tx& tx,
                                                    const std::optional<std::string>& action,
                                                    int limit) {
    static constexpr SystemSql kNewest{
        "audit_log.newest", Why{"the operator's view of all tenants and the installation"},
        "SELECT " ENTRY_COLUMNS " FROM audit_log l" WITH_ADMINS
        "WHERE (? IS NULL OR l.action = ?) ORDER BY l.id DESC LIMIT ?"};
    return entries_of(tx.query(kNewest, action, action, limit));
}

}  // namespace muster::store
