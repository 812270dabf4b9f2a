// The packed rows of an import job (rules/imports/block.hpp defines their format).
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/block_key.hpp"
#include "rules/imports/outcome.hpp"
#include "rules/imports/row_states.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

using rules::BlockKey;

struct Block {
    BlockKey key;
    int rows = 0;
    Timestamp staged_at;
    Timestamp updated_at;
    std::string data;
    std::string outcome;  // "" = not validated yet
};

struct NewBlock {
    BlockKey key;
    int rows = 0;
    std::string data;
    std::vector<rules::RowOutcome> outcomes = {};  // empty = all rows are staged
};

struct StoredPart {
    BlockKey key;
    int rows = 0;
};

// All parts of these blocks, in order. Requires sorted `numbers`. A writer holds the job's lock.
std::vector<StoredPart> find_parts(db::OrgStore& org, ImportId job,
                                   std::span<const std::uint32_t> numbers);
std::optional<Block> read_block(db::OrgStore& org, ImportId job, BlockKey key);
// Those of these parts that exist, in order. Requires sorted `keys`. A part is up to 4 MiB.
std::vector<Block> read_parts(db::OrgStore& org, ImportId job, std::span<const BlockKey> keys);
void delete_parts(db::OrgStore& org, ImportId job, std::span<const BlockKey> keys);
// Throws RetryTransaction if another call inserted one of the blocks at the same time.
void insert_blocks(db::OrgStore& org, ImportId job, std::span<const NewBlock> blocks,
                   Timestamp now);

// States of rows; empty = all states.
using RowStates = std::vector<rules::RowState>;

// The next blocks from `from` that have at least one row in one of the states, in order.
std::vector<Block> read_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                               const RowStates& states, int limit);

// The next committed blocks from `from` that created or attached a member, in order, without the
// rows, which may have 4 MiB. Not undone ones: what an undo leaves alone is no longer the job's.
struct BlockOutcome {
    BlockKey key;
    int rows = 0;
    Timestamp staged_at;
    Timestamp updated_at;
    std::string outcome;
};
std::vector<BlockOutcome> read_new_members(db::OrgStore& org, ImportId job, BlockKey from,
                                           int limit);

// The keys of checked blocks that contain valid rows, in order, starting at `from`.
std::vector<BlockKey> find_uncommitted_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                              int limit);
// One such block, locked; nullopt if it was committed in the meantime.
std::optional<Block> lock_uncommitted_block(db::OrgStore& org, ImportId job, BlockKey key);

// The keys of committed blocks with rows that the commit wrote, in order, starting at `from`.
std::vector<BlockKey> find_committed_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                            int limit);
// How many rows of a block the commit left in each state; none if it is not committed, or undone.
struct CommittedRows {
    BlockKey key;
    int created = 0;
    int attached = 0;
    int merged = 0;

    bool any() const { return created + attached + merged > 0; }
};
// The first `limit` blocks from `from` on, of any state, in order.
std::vector<CommittedRows> count_committed_rows(db::OrgStore& org, ImportId job, BlockKey from,
                                                int limit);
// nullopt if the job has no block.
std::optional<BlockKey> find_last_block(db::OrgStore& org, ImportId job);
// One such block, locked; nullopt if it was undone in the meantime.
std::optional<Block> lock_committed_block(db::OrgStore& org, ImportId job, BlockKey key);

enum class BlockState : std::uint8_t { Checked, Committed, Undone };
// Stores the outcomes of a block, with their counts.
void write_outcome(db::OrgStore& org, ImportId job, BlockKey key, BlockState state,
                   const std::vector<rules::RowOutcome>& outcomes, Timestamp now);

// Deletes at most `limit` blocks of a job. Returns their number.
std::int64_t delete_some_blocks(db::OrgStore& org, ImportId job, int limit);

}  // namespace muster::store

namespace muster {

template <>
inline constexpr std::array kNames<store::BlockState> = {
    Name{store::BlockState::Checked, "checked"}, Name{store::BlockState::Committed, "committed"},
    Name{store::BlockState::Undone, "undone"}};

}  // namespace muster
