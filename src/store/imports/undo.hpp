// The statements of an undo: the committed blocks of a job, their members, and the job's counts.
#pragma once

#include "rules/imports/jobs.hpp"
#include "store/imports/blocks.hpp"

#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

namespace muster::store {

// The keys of committed blocks with rows that the commit wrote, in order, starting at `from`.
std::vector<BlockKey> find_committed_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                            int limit);
// How many rows of such a block the commit left in each state.
struct CommittedRows {
    BlockKey key;
    int created = 0;
    int attached = 0;
    int merged = 0;
};
// The first `limit` of these blocks, in order.
std::vector<CommittedRows> count_committed_rows(db::OrgStore& org, ImportId job, int limit);
// One such block, locked; nullopt if it was undone in the meantime.
std::optional<Block> lock_committed_block(db::OrgStore& org, ImportId job, BlockKey key);
// Adds to the counts of the job's undo. The caller has just written the job, so it holds the job's
// lock.
void add_undo_counts(db::OrgStore& org, ImportId job, const rules::ImportUndo& more);

// The members among these that have engagement events.
std::unordered_set<MemberId> find_members_with_events(db::OrgStore& org,
                                                      std::span<const MemberId> members);

}  // namespace muster::store
