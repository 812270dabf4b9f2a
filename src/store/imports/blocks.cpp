#include "store/imports/blocks.hpp"

#include "db/sql_text.hpp"
#include "rules/imports/block.hpp"
#include "store/batches.hpp"

#include <algorithm>
#include <iterator>

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

constexpr auto kPart =
    columns<StoredPart>(nested<&StoredPart::key>(kKey), column<&StoredPart::rows>("row_count"));

constexpr auto kOutcome = columns<BlockOutcome>(
    nested<&BlockOutcome::key>(kKey), column<&BlockOutcome::rows>("row_count"),
    column<&BlockOutcome::staged_at>("staged_at"), column<&BlockOutcome::updated_at>("updated_at"),
    converted<or_empty<std::string>, &BlockOutcome::outcome>("outcome"));

constexpr auto kBlock = columns<Block>(
    nested<&Block::key>(kKey), column<&Block::rows>("row_count"),
    column<&Block::staged_at>("staged_at"), column<&Block::updated_at>("updated_at"),
    column<&Block::data>("data"), converted<or_empty<std::string>, &Block::outcome>("outcome"));

constexpr auto kCommittedRows = columns<CommittedRows>(
    nested<&CommittedRows::key>(kKey),
    column<&CommittedRows::created>("IF(state = 'committed', created_count, 0)"),
    column<&CommittedRows::attached>("IF(state = 'committed', attached_count, 0)"),
    column<&CommittedRows::merged>("IF(state = 'committed', merged_count, 0)"));

constexpr SqlText read_blocks(std::string_view condition) {
    return {
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) ",
        condition, " ORDER BY block_no, part LIMIT ?"};
}

// One parameter for each state, in the order of RowState.
constexpr std::string_view kHasStates =
    "AND ((? AND state = 'staged') OR (? AND valid_count > 0) "
    "OR (? AND invalid_count > 0) OR (? AND created_count > 0) "
    "OR (? AND attached_count > 0) OR (? AND merged_count > 0) "
    "OR (? AND failed_count > 0) OR (? AND removed_count > 0) "
    "OR (? AND detached_count > 0) OR (? AND emptied_count > 0) "
    "OR (? AND kept_count > 0))";

std::vector<Param> page_params(const ImportId& job, BlockKey from, const RowStates& states,
                               int limit) {
    std::vector<Param> params{job, from.number, from.number, from.part};
    if (!states.empty()) {
        for (const auto& name : kNames<rules::RowState>) {
            const bool is_wanted =
                std::find(states.begin(), states.end(), name.value) != states.end();
            params.emplace_back(is_wanted ? 1 : 0);
        }
    }
    params.emplace_back(limit);
    return params;
}

std::vector<Param> with_keys(const ImportId& job, std::span<const BlockKey> keys) {
    std::vector<Param> params{job};
    for (const BlockKey& key : keys) params.insert(params.end(), {key.number, key.part});
    return params;
}

// How many of the first blocks fit in a statement, which the server's max_allowed_packet limits; 1
// or more. A part alone is up to 4 MiB.
std::size_t fitting_in_statement(std::span<const NewBlock> blocks) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
    std::size_t bytes = blocks.front().data.size();
    std::size_t count = 1;
    while (count < std::min(blocks.size(), kMostRows)) {
        bytes += blocks[count].data.size();
        if (bytes > kMostBytes) break;
        ++count;
    }
    return count;
}

void insert_together(db::OrgStore& org, ImportId job, std::span<const NewBlock> blocks,
                     Timestamp now) {
    static constexpr OrgSql kInsert{
        "import_blocks.insert",
        "INSERT INTO import_blocks (organization_id, job_id, block_no, part, state, row_count, "
        "valid_count, invalid_count, staged_at, updated_at, data, outcome) "
        "VALUES {(:org, ?, ?, ?, 'staged', ?, ?, ?, ?, ?, ?, ?)}"};
    std::vector<std::string> outcomes;
    outcomes.reserve(blocks.size());
    std::vector<Param> params;
    for (const NewBlock& block : blocks) {
        const rules::RowCounts counts = rules::count_states(block.outcomes);
        outcomes.push_back(rules::encode_outcomes(block.outcomes));
        params.insert(params.end(),
                      {job, block.key.number, block.key.part, block.rows, counts.valid,
                       counts.invalid, now, now, block.data, Param::text_or_null(outcomes.back())});
    }
    org.execute_bulk(kInsert, blocks.size(), params);
}

}  // namespace

std::vector<StoredPart> find_parts(db::OrgStore& org, ImportId job,
                                   std::span<const std::uint32_t> numbers) {
    static constexpr OrgSql kFind{
        "import_blocks.find_parts", kPart,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND job_id = ? AND block_no IN ({?}) ORDER BY block_no, part"};
    std::vector<StoredPart> found;
    in_batches(numbers, [&](const std::vector<Param>& batch) {
        std::vector<Param> params{job};
        params.insert(params.end(), batch.begin(), batch.end());
        const auto some = org.all_bulk(kFind, batch.size(), params);
        found.insert(found.end(), some.begin(), some.end());
    });
    return found;
}

std::optional<Block> read_block(db::OrgStore& org, ImportId job, BlockKey key) {
    auto blocks = read_parts(org, job, {&key, 1});
    return blocks.empty() ? std::nullopt : std::optional(std::move(blocks.front()));
}

std::vector<Block> read_parts(db::OrgStore& org, ImportId job, std::span<const BlockKey> keys) {
    static constexpr OrgSql kRead{
        "import_blocks.read_parts", kBlock,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND job_id = ? AND (block_no, part) IN ({(?, ?)}) ORDER BY block_no, part"};
    std::vector<Block> blocks;
    in_pieces(keys, [&](std::span<const BlockKey> piece) {
        auto some = org.all_bulk(kRead, piece.size(), with_keys(job, piece));
        std::move(some.begin(), some.end(), std::back_inserter(blocks));
    });
    return blocks;
}

void delete_parts(db::OrgStore& org, ImportId job, std::span<const BlockKey> keys) {
    static constexpr OrgSql kDelete{
        "import_blocks.delete",
        "DELETE FROM import_blocks WHERE organization_id = :org AND job_id = ? "
        "AND (block_no, part) IN ({(?, ?)})"};
    in_pieces(keys, [&](std::span<const BlockKey> piece) {
        org.execute_bulk(kDelete, piece.size(), with_keys(job, piece));
    });
}

void insert_blocks(db::OrgStore& org, ImportId job, std::span<const NewBlock> blocks,
                   Timestamp now) {
    const bool are_inserted = db::try_unique([&] {
        while (!blocks.empty()) {
            const auto piece = blocks.first(batch_size(fitting_in_statement(blocks)));
            insert_together(org, job, piece, now);
            blocks = blocks.subspan(piece.size());
        }
    });
    if (!are_inserted) throw db::RetryTransaction{"two calls staged the same new block"};
}

std::vector<Block> read_blocks(db::OrgStore& org, ImportId job, BlockKey from,
                               const RowStates& states, int limit) {
    static constexpr OrgSql kRead{"import_blocks.read", kBlock,
                                  kSqlText<[] { return read_blocks(""); }>};
    static constexpr OrgSql kReadStates{"import_blocks.read_states", kBlock,
                                        kSqlText<[] { return read_blocks(kHasStates); }>};
    return org.all_bulk(states.empty() ? kRead : kReadStates, 1,
                        page_params(job, from, states, limit));
}

std::vector<BlockOutcome> read_new_members(db::OrgStore& org, ImportId job, BlockKey from,
                                           int limit) {
    static constexpr OrgSql kRead{"import_blocks.read_new_members", kOutcome, kSqlText<[] {
                                      return read_blocks(
                                          "AND state = 'committed' "
                                          "AND (created_count > 0 OR attached_count > 0)");
                                  }>};
    return org.all_bulk(kRead, 1, page_params(job, from, {}, limit));
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

std::vector<CommittedRows> count_committed_rows(db::OrgStore& org, ImportId job, BlockKey from,
                                                int limit) {
    static constexpr OrgSql kCount{
        "import_blocks.count_committed", kCommittedRows,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? "
        "AND (block_no > ? OR (block_no = ? AND part >= ?)) ORDER BY block_no, part LIMIT ?"};
    return org.all(kCount, job, from.number, from.number, from.part, limit);
}

std::optional<BlockKey> find_last_block(db::OrgStore& org, ImportId job) {
    static constexpr OrgSql kFind{
        "import_blocks.find_last", kKey,
        "SELECT {columns} FROM import_blocks FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND job_id = ? ORDER BY block_no DESC, part DESC LIMIT 1"};
    return org.one(kFind, job);
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
