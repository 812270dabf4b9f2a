// Deletes the blocks of jobs that wrote no member and cannot write one: canceled jobs, and jobs
// that failed in the dry run. The job's record is kept until it expires.
#pragma once

#include "service/context.hpp"

namespace muster::service {

// Marks the job, which ends in this transaction.
void discard_blocks(OrgTransaction& transaction, ImportId id);

// The runner's step: one bounded transaction. Returns false if there is nothing to delete, or if
// other runners delete it.
[[nodiscard]] bool delete_discarded_blocks(Context& context);

}  // namespace muster::service
