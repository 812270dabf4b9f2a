// Ended jobs whose blocks have no further use (table import_discards).
#pragma once

#include "db/transaction.hpp"

#include <optional>

namespace muster::store {

// The caller has just ended the job, so it holds the job's lock.
void insert_import_discard(db::OrgStore& org, ImportId id);

struct DiscardedImport {
    OrgId organization;
    ImportId id;
};
// One of these jobs of any organization, locked; nullopt if there is none that no other runner has
// locked.
std::optional<DiscardedImport> lock_import_discard(db::Tx& tx);
void delete_import_discard(db::OrgStore& org, ImportId id);

}  // namespace muster::store
