// The undo of an import: the call that requests or predicts it, and the runner's steps. An undo
// takes back what the commit wrote and was not changed since (rules/imports/undo.hpp).
#pragma once

#include "rules/imports/jobs.hpp"
#include "service/imports/commit.hpp"
#include "service/imports/lease.hpp"

#include <vector>

namespace muster::service {

enum class UndoMode : std::uint8_t { Predict, Undo };

// Undo moves a completed or failed job to undoing. Predict changes nothing: the job in the reply
// has the counts of an undo at this moment, scaled from a part of the rows for a large job. Throws
// NOT_FOUND, IMPORT_JOB_INVALID_STATE, IMPORT_JOB_ACTIVE_EXISTS.
rules::ImportJob undo_import(OrgTransaction& transaction, ImportId id, UndoMode mode);

// At most `most` units, in order, starting with the block `from`.
std::vector<CommitUnit> next_undo_units(Context& context, const Lease& lease, rules::BlockKey from,
                                        int most);
// Undoes the rows of these blocks in one transaction. Idempotent: blocks that are undone are
// skipped. Throws LeaseLost.
void undo_unit(Context& context, const Lease& lease, const CommitUnit& unit);
// Moves the job to undone. Call it after the last block.
void complete_undo(Context& context, const Lease& lease);

}  // namespace muster::service
