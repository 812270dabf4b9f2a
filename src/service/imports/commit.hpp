// The commit of an import job: writes the members of its valid rows, block by block.
#pragma once

#include "rules/imports/block_key.hpp"
#include "service/imports/lease.hpp"

#include <vector>

namespace muster::service {

// Blocks that are committed in one transaction.
struct CommitUnit {
    std::vector<rules::BlockKey> blocks;
};
// The next units from `from` on (in order), at most `most`.
std::vector<CommitUnit> next_commit_units(Context& context, const Lease& lease,
                                          rules::BlockKey from, int most);
// Writes the members of these blocks. Rows that the database refuses fail alone. Idempotent: blocks
// that are committed already are passed over.
void commit_unit(Context& context, const Lease& lease, const CommitUnit& unit);
// To completed, when no block is left.
void complete_import(Context& context, const Lease& lease);

}  // namespace muster::service
