#include "store/imports/blocks.hpp"

#include "db/sql_text.hpp"
#include "rules/imports/block.hpp"

#include <algorithm>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::kSqlText;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SqlText;

namespace {

constexpr auto kKey =
    columns<BlockKey>(column<&BlockKey::number>("block_no"), column<&BlockKey::part>("part"));

constexpr auto kBlock = columns<Block>(
    nested<&Block::key>(kKey), column<&Block::rows>("row_count"),
    column<&Block::staged_at>("staged_at"), column<&Block::updated_at>("updated_at"),
    column<&Block::data>("data"), converted<or_empty<std::string>, &Block::outcome>("outcome"));

constexpr auto kCommittedRows = columns<CommittedRows>(
    nested<&CommittedRows::key>(kKey), column<&CommittedRows::created>("created_count"),
    column<&CommittedRows::attached>("attached_count"),
    column<&CommittedRows::merged>("merged_count"));

constexpr SqlText read_blocks(std::string_view condition) {
    return {
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) ",
        condition, " ORDER BY block_no, part LIMIT ?"};
}

}  // namespace

std::vector<BlockKey> find_block_keys(db::OrgStore& org, ImportId job,
                                      std::span<const std::uint32_t> numbers) {
    static constexpr OrgSql kFind{
        "import_blocks.find_keys", kKey,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND job_id = ? AND block_no IN ({?}) ORDER BY block_no, part"};
    std::vector<Param> params{job};
    params.insert(params.end(), numbers.begin(), numbers.end());
    return org.all_bulk(kFind, numbers.size(), params);
}

std::optional<Block> read_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kRead{
        "import_blocks.read_one", kBlock,
        "SELECT {columns} FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ?"};
    return org.one(kRead, job, key.number, key.part);
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
    // One block per statement: ten blocks could exceed the server's max_allowed_packet.
    static constexpr OrgSql kInsert{
        "import_blocks.insert",
        "INSERT INTO import_blocks (organization_id, job_id, block_no, part, state, row_count, "
        "valid_count, invalid_count, staged_at, updated_at, data, outcome) "
        "VALUES (:org, ?, ?, ?, 'staged', ?, ?, ?, ?, ?, ?, ?)"};
    const bool are_inserted = db::try_unique([&] {
        for (const NewBlock& block : blocks) {
            const rules::RowCounts counts = rules::count_states(block.outcomes);
            const std::string outcome = rules::encode_outcomes(block.outcomes);
            org.execute(kInsert, job, block.key.number, block.key.part, block.rows, counts.valid,
                        counts.invalid, now, now, block.data, Param::text_or_null(outcome));
        }
    });
    if (!are_inserted) throw db::RetryTransaction{"two calls staged the same new block"};
}

std::vector<Block> read_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                               const RowStates& states, int limit) {
    static constexpr OrgSql kRead{"import_blocks.read", kBlock,
                                  kSqlText<[] { return read_blocks(""); }>};
    // One parameter for each state, in the order of RowState.
    static constexpr OrgSql kReadStates{
        "import_blocks.read_states", kBlock, kSqlText<[] {
            return read_blocks(
                "AND ((? AND state = 'staged') OR (? AND valid_count > 0) "
                "OR (? AND invalid_count > 0) OR (? AND created_count > 0) "
                "OR (? AND attached_count > 0) OR (? AND merged_count > 0) "
                "OR (? AND failed_count > 0) OR (? AND removed_count > 0) "
                "OR (? AND detached_count > 0) OR (? AND emptied_count > 0) "
                "OR (? AND kept_count > 0))");
        }>};
    std::vector<Param> params{job, from.number, from.number, from.part};
    if (!states.empty()) {
        for (const auto& name : kNames<rules::RowState>) {
            const bool is_wanted =
                std::find(states.begin(), states.end(), name.value) != states.end();
            params.emplace_back(is_wanted ? 1 : 0);
        }
    }
    params.emplace_back(limit);
    return org.all_bulk(states.empty() ? kRead : kReadStates, 1, params);
}

std::vector<BlockKey> find_uncommitted_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                              int limit) {
    static constexpr OrgSql kFind{
        "import_blocks.find_uncommitted", kKey,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) AND state = 'checked' AND valid_count "
        "> 0 "
        "ORDER BY block_no, part LIMIT ?"};
    return org.all(kFind, job, from.number, from.number, from.part, limit);
}

std::optional<Block> lock_uncommitted_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kLock{
        "import_blocks.lock_uncommitted", kBlock,
        "SELECT {columns} FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ? "
        "AND state = 'checked' FOR UPDATE"};
    return org.one(kLock, job, key.number, key.part);
}

std::vector<BlockKey> find_committed_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                                            int limit) {
    static constexpr OrgSql kFind{
        "import_blocks.find_committed", kKey,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) AND state = 'committed' "
        "AND created_count + attached_count + merged_count > 0 ORDER BY block_no, part LIMIT ?"};
    return org.all(kFind, job, from.number, from.number, from.part, limit);
}

std::vector<CommittedRows> count_committed_rows(db::OrgStore& org, ImportId job, int limit) {
    static constexpr OrgSql kCount{
        "import_blocks.count_committed", kCommittedRows,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? AND state = 'committed' "
        "AND created_count + attached_count + merged_count > 0 ORDER BY block_no, part LIMIT ?"};
    return org.all(kCount, job, limit);
}

std::optional<Block> lock_committed_block(db::OrgStore& org, ImportId job, BlockKey key) {
    static constexpr OrgSql kLock{
        "import_blocks.lock_committed", kBlock,
        "SELECT {columns} FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND block_no = ? AND part = ? AND state = 'committed' FOR UPDATE"};
    return org.one(kLock, job, key.number, key.part);
}

void write_outcome(db::OrgStore& org, ImportId job, BlockKey key, BlockState state,
                   const std::vector<rules::RowOutcome>& outcomes, Timestamp now) {
    static constexpr OrgSql kWrite{
        "import_blocks.write_outcome",
        "UPDATE import_blocks SET state = ?, outcome = ?, valid_count = ?, invalid_count = ?, "
        "created_count = ?, attached_count = ?, merged_count = ?, failed_count = ?, "
        "removed_count = ?, detached_count = ?, emptied_count = ?, kept_count = ?, updated_at = ? "
        "WHERE organization_id = :org AND job_id = ? AND block_no = ? AND part = ?"};
    const rules::RowCounts counts = rules::count_states(outcomes);
    const std::string bytes = rules::encode_outcomes(outcomes);
    org.execute(kWrite, text_of(state), bytes, counts.valid, counts.invalid, counts.created,
                counts.attached, counts.merged, counts.failed, counts.removed, counts.detached,
                counts.emptied, counts.kept, now, job, key.number, key.part);
}

std::int64_t delete_some_blocks(db::OrgStore& org, ImportId job, int limit) {
    static constexpr OrgSql kDelete{
        "import_blocks.delete_some",
        "DELETE FROM import_blocks WHERE organization_id = :org AND job_id = ? LIMIT ?"};
    return org.execute(kDelete, job, limit);
}

}  // namespace muster::store
