#include "store/audit_log.hpp"

#include "db/sql_text.hpp"
#include "store/batches.hpp"
#include "store/like_pattern.hpp"

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

std::string least_of(const AuditRange& range) {
    return std::string(range.least.value_or(AuditId()).bytes());
}
std::string end_of(const AuditRange& range) {
    return range.end ? std::string(range.end->bytes()) : std::string(Uuid::kBytes, '\xff');
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

std::vector<rules::AuditEntry> page_audit_log(db::OrgStore& org, const AuditRange& range,
                                              const AuditConditions& conditions, int limit) {
    // Without the hint, the optimizer uses only the organization from the index, and a deep page
    // reads all newer entries.
    static constexpr OrgSql kPage{
        "audit_log.page", kEntry, kSqlText<[] {
            return page_text(" FORCE INDEX (organization)",
                             "l.organization_id = :org AND l.id >= ? AND l.id < ? "
                             "AND (? IS NULL OR l.action = ?) AND (? IS NULL OR l.action LIKE ?) "
                             "AND (? IS NULL OR l.subject_id = ?) AND (? IS NULL OR l.actor = ?) "
                             "AND (? IS NULL OR l.actor_id = ?) "
                             "AND (? IS NULL OR l.created_at >= ?) "
                             "AND (? IS NULL OR l.created_at < ?)");
        }>};
    const auto like = conditions.action_prefix
                          ? std::optional(like_pattern(*conditions.action_prefix))
                          : std::nullopt;
    const auto actor =
        conditions.actor ? std::optional(std::string(text_of(*conditions.actor))) : std::nullopt;
    const std::string least = least_of(range);
    const std::string end = end_of(range);
    std::vector<Param> params{least, end};
    const auto add = [&](const auto& value) {
        for (int i = 0; i < 2; ++i) params.emplace_back(value);
    };
    add(conditions.action);
    add(like);
    add(conditions.subject_id);
    add(actor);
    add(conditions.actor_id);
    add(conditions.since);
    add(conditions.until);
    params.emplace_back(limit);
    return org.all_bulk(kPage, 1, params);
}

std::optional<AuditId> find_audit_entry_at(db::OrgStore& org, const AuditRange& range,
                                           int position) {
    static constexpr OrgSql kFind{
        "audit_log.find_at",
        "SELECT id FROM audit_log FORCE INDEX (organization) "
        "WHERE organization_id = :org AND id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?"};
    return org.one<AuditId>(kFind, least_of(range), end_of(range), position - 1);
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
