#include "service/imports/staging.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/settings/limits.hpp"
#include "db/transaction.hpp"
#include "rules/imports/block.hpp"
#include "service/imports/jobs.hpp"
#include "service/quotas.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <unordered_set>

namespace muster::service {
namespace {

using rules::ImportState;

using BlockRows = std::span<const rules::StagedRow>;

bool by_number(const rules::StagedRow& left, const rules::StagedRow& right) {
    return left.row_number < right.row_number;
}

void reject_repeated_numbers(const std::vector<NewRow>& rows) {
    std::unordered_set<std::int64_t> seen;
    seen.reserve(rows.size());
    Faults faults;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (seen.insert(rows[i].number).second) continue;
        faults.add("rows[" + std::to_string(i) + "].rowNumber", FieldCode::Duplicate);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

// The rows ordered by number, as views into `rows`.
std::vector<rules::StagedRow> sorted_rows(const std::vector<NewRow>& rows) {
    std::vector<rules::StagedRow> sorted;
    sorted.reserve(rows.size());
    for (const NewRow& row : rows) {
        sorted.push_back(rules::staged_row(static_cast<std::uint32_t>(row.number), row.fields));
    }
    if (!std::is_sorted(sorted.begin(), sorted.end(), by_number)) {
        std::sort(sorted.begin(), sorted.end(), by_number);
    }
    return sorted;
}

// As stored. A row that replaces another is stored again.
std::int64_t bytes_of(BlockRows rows) {
    std::int64_t bytes = 0;
    for (const rules::StagedRow& row : rows) {
        bytes += static_cast<std::int64_t>(rules::encoded_size(row));
    }
    return bytes;
}

// Rows for the same stored part, or for a new block.
struct Destination {
    rules::BlockKey key;
    bool is_stored = false;
    BlockRows rows;
};

// The stored part for a row: the last part of its block that begins at or before the row, or else
// the block's first part. Returns nullopt if the block is new. Requires sorted `keys`.
std::optional<rules::BlockKey> part_for(std::uint32_t row_number,
                                        const std::vector<rules::BlockKey>& keys) {
    const rules::BlockKey target{rules::block_of(row_number), rules::index_in_block(row_number)};
    const auto next = std::upper_bound(keys.begin(), keys.end(), target);
    if (next != keys.begin() && std::prev(next)->number == target.number) return *std::prev(next);
    if (next != keys.end() && next->number == target.number) return *next;
    return std::nullopt;
}

// The destination of each run of rows. Requires sorted `rows`; the destinations are sorted too.
std::vector<Destination> destinations_of(const std::vector<rules::StagedRow>& rows,
                                         const std::vector<rules::BlockKey>& keys) {
    std::vector<Destination> destinations;
    std::size_t from = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto part = part_for(rows[i].row_number, keys);
        const auto key = part.value_or(rules::BlockKey{rules::block_of(rows[i].row_number), 0});
        if (destinations.empty() || destinations.back().key != key) {
            destinations.push_back({key, part.has_value(), {}});
            from = i;
        }
        destinations.back().rows = BlockRows(rows).subspan(from, i + 1 - from);
    }
    return destinations;
}

std::vector<std::uint32_t> block_numbers_of(const std::vector<rules::StagedRow>& rows) {
    std::vector<std::uint32_t> numbers;
    for (const rules::StagedRow& row : rows) {
        const std::uint32_t number = rules::block_of(row.row_number);
        if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    }
    return numbers;
}

struct RowWithOutcome {
    rules::StagedRow row;
    rules::RowOutcome outcome;
};
using RowsWithOutcomes = std::vector<RowWithOutcome>;

RowsWithOutcomes fresh_rows(BlockRows rows) {
    RowsWithOutcomes fresh;
    fresh.reserve(rows.size());
    for (const rules::StagedRow& row : rows) {
        fresh.push_back({row, rules::outcome_before_validation(row)});
    }
    return fresh;
}

// The old and new rows of a block, sorted. A new row replaces the old row with the same number.
RowsWithOutcomes merged_rows(const store::Block& old, BlockRows fresh) {
    RowsWithOutcomes merged = fresh_rows(fresh);
    const auto rows = rules::decode_rows(old.data);
    auto outcomes = rules::decode_outcomes(old.outcome, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (std::binary_search(fresh.begin(), fresh.end(), rows[i], by_number)) continue;
        merged.push_back({rows[i], std::move(outcomes[i])});
    }
    std::sort(merged.begin(), merged.end(),
              [](const auto& left, const auto& right) { return by_number(left.row, right.row); });
    return merged;
}

// Packs the rows of one block. A part that would exceed kMaxPartBytes begins a new part.
std::vector<store::NewBlock> pack(RowsWithOutcomes&& rows) {
    std::vector<store::NewBlock> parts;
    std::size_t bytes = 0;
    for (const auto& [row, outcome] : rows) bytes += rules::encoded_size(row);
    for (auto& [row, outcome] : rows) {
        if (parts.empty() ||
            parts.back().data.size() + rules::encoded_size(row) > rules::kMaxPartBytes) {
            const int part = rules::index_in_block(row.row_number);
            parts.push_back({{rules::block_of(row.row_number), part}, 0, {}});
            parts.back().data.reserve(std::min(bytes, rules::kMaxPartBytes));
        }
        rules::append_row(parts.back().data, row);
        ++parts.back().rows;
        parts.back().outcomes.push_back(std::move(outcome));
    }
    for (store::NewBlock& part : parts) {
        const bool has_result = std::any_of(
            part.outcomes.begin(), part.outcomes.end(),
            [](const auto& outcome) { return outcome.state != rules::RowState::Staged; });
        if (!has_result) part.outcomes.clear();
    }
    return parts;
}

// Stages one run of rows and returns how many rows the job gains. Reads and writes only the
// affected part, so a small call is cheap in a large block.
int stage_run(db::OrgStore& org, ImportId id, const Destination& to, Timestamp now) {
    if (!to.is_stored) {
        store::insert_blocks(org, id, pack(fresh_rows(to.rows)), now);
        return static_cast<int>(to.rows.size());
    }
    const auto stored = store::read_block(org, id, to.key);
    if (!stored) throw std::runtime_error("a block of a locked import job does not exist");
    auto merged = merged_rows(*stored, to.rows);
    const auto size = static_cast<int>(merged.size());
    store::delete_block(org, id, to.key);
    store::insert_blocks(org, id, pack(std::move(merged)), now);
    return size - stored->rows;
}

}  // namespace

void stage_rows(OrgTransaction& transaction, const LimitsSettings& limits, ImportId id,
                const std::vector<NewRow>& rows) {
    reject_repeated_numbers(rows);
    const auto sorted = sorted_rows(rows);
    db::OrgStore org(transaction.tx, transaction.org());
    // Concurrent calls for one job write one after the other; the packing above runs in parallel.
    const auto job = lock_import(transaction, id);
    if (job.state != ImportState::Staging) reject_import_state(job.state, "staging");
    if (rows.empty()) return;
    // The job's lock is held, so only calls that wait for it too count here.
    take(org, rules::Quota::StagedBytes, bytes_of(sorted), bytes_of_mib(limits.staged_mib),
         transaction.now);
    const auto keys = store::find_block_keys(org, id, block_numbers_of(sorted));
    int added = 0;
    for (const Destination& to : destinations_of(sorted, keys))
        added += stage_run(org, id, to, transaction.now);
    if (!store::add_staged_rows(org, id, added, kMostImportRows, transaction.now)) {
        throw Error(ErrorCode::ImportRowLimitExceeded)
            .detail("staged_rows", Json::Int64(job.staged_rows))
            .detail("limit", Json::Int64(kMostImportRows));
    }
}

}  // namespace muster::service
