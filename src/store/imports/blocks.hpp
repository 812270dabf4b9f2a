// The packed rows of an import job (rules/imports/block.hpp says what is in the bytes).
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/block_key.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct RowOutcome;
}

namespace muster::store {

using rules::BlockKey;

struct Block {
    BlockKey key;
    int rows = 0;
    Timestamp staged_at;
    Timestamp updated_at;
    std::string data;
    std::string outcome;  // "" = not judged yet
};

struct NewBlock {
    BlockKey key;
    int rows = 0;
    std::string data;
};

// The keys of all parts of these blocks, in order. The caller holds the job's lock.
std::vector<BlockKey> find_block_keys(db::OrgStore& org, ImportId job,
                                      std::span<const std::uint32_t> numbers);
std::optional<Block> read_block(db::OrgStore& org, ImportId job, BlockKey key);
void delete_block(db::OrgStore& org, ImportId job, BlockKey key);
// Throws RetryTransaction when another call has just made one of them.
void insert_blocks(db::OrgStore& org, ImportId job, std::span<const NewBlock> blocks,
                   Timestamp now);

// Which blocks a reader wants: those with at least one row in such a state.
enum class BlockFilter : std::uint8_t {
    All,
    Staged,
    Valid,
    Invalid,
    Created,
    Attached,
    Merged,
    Failed,
    Faulty
};

// The next blocks from `from` on, in order.
std::vector<Block> read_blocks(db::OrgStore& org, ImportId job, BlockKey from, BlockFilter filter,
                               int limit);

// Keys of checked blocks that still hold valid rows, in order, from `from` on.
std::vector<BlockKey> find_uncommitted_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                              int limit);
// One such block, locked; nullopt when it was committed meanwhile.
std::optional<Block> lock_uncommitted_block(db::OrgStore& org, ImportId job, BlockKey key);

enum class BlockState : std::uint8_t { Checked, Committed };
void write_outcome(db::OrgStore& org, ImportId job, BlockKey key, BlockState state,
                   const std::vector<rules::RowOutcome>& outcomes, Timestamp now);

// At most `limit` blocks of a job; how many went.
std::int64_t delete_some_blocks(db::OrgStore& org, ImportId job, int limit);

}  // namespace muster::store
