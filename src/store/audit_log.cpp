#include "store/audit_log.hpp"

namespace muster::store {

using db::Param;
using db::SystemSql;
using db::Why;

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

}  // namespace muster::store
