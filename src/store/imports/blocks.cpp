#include "store/imports/blocks.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::Rows;

namespace {

#define BLOCK_COLUMNS "block_no, part, row_count, staged_at, updated_at, data, outcome"

Block block_of(const Rows& rows) {
    Block block;
    block.key = {static_cast<std::uint32_t>(rows.integer(1)), static_cast<int>(rows.integer(2))};
    block.rows = static_cast<int>(rows.integer(3));
    block.staged_at = rows.timestamp(4);
    block.updated_at = rows.timestamp(5);
    block.data = rows.bytes(6);
    block.outcome = rows.text_or_empty(7);
    return block;
}

std::vector<Block> blocks_of(Rows rows) {
    std::vector<Block> blocks;
    while (rows.next()) blocks.push_back(block_of(rows));
    return blocks;
}

std::optional<Block> first_of(std::vector<Block> blocks) {
    if (blocks.empty()) return std::nullopt;
    return std::move(blocks.front());
}

std::vector<BlockKey> keys_of(Rows rows) {
    std::vector<BlockKey> keys;
    while (rows.next()) {
        keys.push_back(
            {static_cast<std::uint32_t>(rows.integer(1)), static_cast<int>(rows.integer(2))});
    }
    return keys;
}

#define READ_BLOCKS(condition)                                         \
    "SELECT " BLOCK_COLUMNS                                            \
    " FROM import_blocks WHERE organization_id = :org AND job_id = ? " \
    "AND (block_no > ? OR (block_no = ? AND part >= ?)) " condition    \
    " ORDER BY block_no, part LIMIT ?"

const OrgSql& read_statement(BlockFilter filter) {
    static constexpr OrgSql kAll{"import_blocks.read", READ_BLOCKS("")};
    static constexpr OrgSql kStaged{"import_blocks.read_staged",
                                    READ_BLOCKS("AND state = 'staged'")};
    static constexpr OrgSql kValid{"import_blocks.read_valid", READ_BLOCKS("AND valid_count > 0")};
    static constexpr OrgSql kInvalid{"import_blocks.read_invalid",
                                     READ_BLOCKS("AND invalid_count > 0")};
    static constexpr OrgSql kCreated{"import_blocks.read_created",
                                     READ_BLOCKS("AND created_count > 0")};
    static constexpr OrgSql kAttached{"import_blocks.read_attached",
                                      READ_BLOCKS("AND attached_count > 0")};
    static constexpr OrgSql kMerged{"import_blocks.read_merged",
                                    READ_BLOCKS("AND merged_count > 0")};
    static constexpr OrgSql kFailed{"import_blocks.read_failed",
                                    READ_BLOCKS("AND failed_count > 0")};
    static constexpr OrgSql kFaulty{"import_blocks.read_faulty",
                                    READ_BLOCKS("AND invalid_count + failed_count > 0")};
    switch (filter) {
        case BlockFilter::All:
            return kAll;
        case BlockFilter::Staged:
            return kStaged;
        case BlockFilter::Valid:
            return kValid;
        case BlockFilter::Invalid:
            return kInvalid;
        case BlockFilter::Created:
            return kCreated;
        case BlockFilter::Attached:
            return kAttached;
        case BlockFilter::Merged:
            return kMerged;
        case BlockFilter::Failed:
            return kFailed;
        case BlockFilter::Faulty:
            return kFaulty;
    }
    return kAll;
}

}  // namespace

std::vector<BlockKey> find_block_keys(db::OrgStore& org, ImportId job,
                                      std::span<const std::uint32_t> numbers) {
    static constexpr OrgSql kFind{
        "import_blocks.find_keys",
        "SELECT block_no, part FROM import_blocks WHERE organization_id = :org "
        "AND job_id = ? AND block_no IN ({?}) ORDER BY block_no, part"};
    std::vector<Param> params{job};
    params.insert(params.end(), numbers.begin(), numbers.end());
    return keys_of(org.query_bulk(kFind, numbers.size(), params));
}

std::optional<Block> read_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kRead{"import_blocks.read_one",
                                  "SELECT " BLOCK_COLUMNS
                                  " FROM import_blocks WHERE organization_id = :org AND job_id = ? "
                                  "AND block_no = ? AND part = ?"};
    return first_of(blocks_of(org.query(kRead, job, key.number, key.part)));
}

void delete_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kDelete{
        "import_blocks.delete",
        "DELETE FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ?"};
    org.execute(kDelete, job, key.number, key.part);
}

void insert_blocks(db::OrgStore& org, ImportId job, std::span<const NewBlock> blocks,
                   Timestamp now) {
    // One block a statement: a statement with ten of them could pass the server's
    // max_allowed_packet.
    static constexpr OrgSql kInsert{
        "import_blocks.insert",
        "INSERT INTO import_blocks (organization_id, job_id, block_no, part, state, row_count, "
        "staged_at, "
        "updated_at, data) VALUES (:org, ?, ?, ?, 'staged', ?, ?, ?, ?)"};
    const bool are_inserted = db::unless_taken([&] {
        for (const NewBlock& block : blocks) {
            org.execute(kInsert, job, block.key.number, block.key.part, block.rows, now, now,
                        block.data);
        }
    });
    if (!are_inserted) throw db::RetryTransaction{"two calls staged the same new block"};
}

std::vector<Block> read_blocks(db::OrgStore& org, ImportId job, BlockKey from, BlockFilter filter,
                               int limit) {
    return blocks_of(
        org.query(read_statement(filter), job, from.number, from.number, from.part, limit));
}

std::vector<BlockKey> find_uncommitted_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                              int limit) {
    static constexpr OrgSql kFind{
        "import_blocks.find_uncommitted",
        "SELECT block_no, part FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) AND state = 'checked' AND valid_count "
        "> 0 "
        "ORDER BY block_no, part LIMIT ?"};
    return keys_of(org.query(kFind, job, from.number, from.number, from.part, limit));
}

std::optional<Block> lock_uncommitted_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kLock{"import_blocks.lock_uncommitted",
                                  "SELECT " BLOCK_COLUMNS
                                  " FROM import_blocks WHERE organization_id = :org AND job_id = ? "
                                  "AND block_no = ? AND part = ? "
                                  "AND state = 'checked' FOR UPDATE"};
    return first_of(blocks_of(org.query(kLock, job, key.number, key.part)));
}

void write_outcome(db::OrgStore& org, ImportId job, BlockKey key, BlockState state,
                   const std::vector<rules::RowOutcome>& outcomes, Timestamp now) {
    static constexpr OrgSql kWrite{
        "import_blocks.write_outcome",
        "UPDATE import_blocks SET state = ?, outcome = ?, valid_count = ?, invalid_count = ?, "
        "created_count = ?, attached_count = ?, merged_count = ?, failed_count = ?, updated_at = ? "
        "WHERE organization_id = :org AND job_id = ? AND block_no = ? AND part = ?"};
    const rules::RowCounts counts = rules::count_states(outcomes);
    const std::string bytes = rules::encode_outcomes(outcomes);
    org.execute(kWrite, state == BlockState::Checked ? "checked" : "committed", bytes, counts.valid,
                counts.invalid, counts.created, counts.attached, counts.merged, counts.failed, now,
                job, key.number, key.part);
}

std::int64_t delete_some_blocks(db::OrgStore& org, ImportId job, int limit) {
    static constexpr OrgSql kDelete{
        "import_blocks.delete_some",
        "DELETE FROM import_blocks WHERE organization_id = :org AND job_id = ? LIMIT ?"};
    return org.execute(kDelete, job, limit);
}

}  // namespace muster::store
