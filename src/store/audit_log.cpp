#include "store/audit_log.hpp"

#include "db/sql_text.hpp"
#include "store/batches.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::kSqlText;
using db::OrgSql;
using db::Param;
using db::SqlText;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kEntry = columns<rules::AuditEntry>(
    column<&rules::AuditEntry::organization_id>("l.organization_id"),
    column<&rules::AuditEntry::id>("l.id"), column<&rules::AuditEntry::actor>("l.actor"),
    column<&rules::AuditEntry::actor_id>("l.actor_id"),
    column<&rules::AuditEntry::actor_email>("a.email"),
    column<&rules::AuditEntry::action>("l.action"),
    column<&rules::AuditEntry::subject_id>("l.subject_id"),
    column<&rules::AuditEntry::details>("l.details"),
    column<&rules::AuditEntry::request_id>("l.request_id"),
    column<&rules::AuditEntry::created_at>("l.created_at"));

constexpr SqlText page_text(std::string_view hint, std::string_view condition) {
    return {"SELECT {columns} FROM audit_log l", hint,
            " LEFT JOIN admins a ON a.id = l.actor_id WHERE ", condition,
            " ORDER BY l.id DESC LIMIT ?"};
}

}  // namespace

void insert_audit_entries(db::Tx& tx, std::span<const rules::AuditEntry> entries) {
    static constexpr SystemSql kInsert{
        "audit_log.insert", Why{"entries about the installation belong to no tenant"},
        "INSERT INTO audit_log (organization_id, id, actor, actor_id, action, subject_id, details, "
        "request_id, created_at) VALUES {(?, ?, ?, ?, ?, ?, ?, ?, ?)}"};
    in_pieces(entries, [&](std::span<const rules::AuditEntry> piece) {
        std::vector<Param> params;
        params.reserve(piece.size() * 9);
        for (const rules::AuditEntry& entry : piece) {
            params.insert(params.end(), {entry.organization_id, entry.id, text_of(entry.actor),
                                         entry.actor_id, entry.action, entry.subject_id,
                                         entry.details, entry.request_id, entry.created_at});
        }
        tx.execute_bulk(kInsert, piece.size(), params);
    });
}

void look_for_no_audit_entry(db::Tx& tx, AuditId id) {
    static constexpr SystemSql kFind{
        "audit_log.find_none", Why{"a stranger belongs to no tenant"},
        "SELECT 1 FROM audit_log WHERE organization_id = ? AND id = ?"};
    (void)tx.exists(kFind, OrgId(), id);
}

std::vector<rules::AuditEntry> page_audit_log(db::OrgStore& org, std::optional<AuditId> before,
                                              const AuditFilter& filter, int limit) {
    // Ids are UUIDv7, so they are ordered by time. Without the hint, the optimizer uses only the
    // organization from the index, and a deep page reads all newer entries.
    static constexpr OrgSql kPage{
        "audit_log.page", kEntry, kSqlText<[] {
            return page_text(
                " FORCE INDEX (organization)",
                "l.organization_id = :org AND l.id < ? AND (? IS NULL OR l.action = ?) "
                "AND (? IS NULL OR l.subject_id = ?)");
        }>};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    return org.all(kPage, bound, filter.action, filter.action, filter.subject_id, filter.subject_id,
                   limit);
}

std::vector<rules::AuditEntry> newest_audit_entries(db::Tx& tx,
                                                    const std::optional<std::string>& action,
                                                    int limit) {
    static constexpr SystemSql kNewest{
        "audit_log.newest", Why{"the operator's view of all tenants and the installation"}, kEntry,
        kSqlText<[] {
            return page_text(" FORCE INDEX (PRIMARY)", "(? IS NULL OR l.action = ?)");
        }>};
    return tx.all(kNewest, action, action, limit);
}

}  // namespace muster::store
