#include "store/imports/discards.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kDiscarded =
    columns<DiscardedImport>(column<&DiscardedImport::organization>("organization_id"),
                             column<&DiscardedImport::id>("job_id"));

}  // namespace

void insert_import_discard(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kInsert{
        "import_discards.insert",
        "INSERT IGNORE INTO import_discards (organization_id, job_id) VALUES (:org, ?)"};
    org.execute(kInsert, id);
}

std::optional<DiscardedImport> lock_import_discard(db::Tx& tx) {
    static constexpr SystemSql kLock{
        "import_discards.lock", Why{"the runner serves all tenants; each row names its tenant"},
        kDiscarded,
        "SELECT {columns} FROM import_discards FORCE INDEX (PRIMARY) "
        "ORDER BY organization_id, job_id LIMIT 1 FOR UPDATE SKIP LOCKED"};
    return tx.one(kLock);
}

void delete_import_discard(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kDelete{
        "import_discards.delete",
        "DELETE FROM import_discards WHERE organization_id = :org AND job_id = ?"};
    org.execute(kDelete, id);
}

}  // namespace muster::store
