// The commit of an import job: writes the members of its valid rows, block by block.
#pragma once

#include "rules/imports/block_key.hpp"
#include "service/imports/lease.hpp"

#include <vector>

namespace muster::service {

// Blocks to commit in one transaction.
struct CommitUnit {
    std::vector<rules::BlockKey> blocks;
};
// Units of at most `blocks_per_unit` blocks, in order.
std::vector<CommitUnit> units_of(const std::vector<rules::BlockKey>& keys,
                                 std::size_t blocks_per_unit);
// At most `most` units, in order, starting with the block `from`.
std::vector<CommitUnit> next_commit_units(Context& context, const Lease& lease,
                                          rules::BlockKey from, int most);
// Writes the members of these blocks. Only the rows that the database rejects fail. Idempotent:
// committed blocks are skipped.
void commit_unit(Context& context, const Lease& lease, const CommitUnit& unit);
// Moves the job to completed. Call it after the last block.
void complete_import(Context& context, const Lease& lease);

}  // namespace muster::service
