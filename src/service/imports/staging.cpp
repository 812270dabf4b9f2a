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
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::ImportState;

using BlockRows = std::span<const rules::StagedRow>;

bool by_number(const rules::StagedRow& left, const rules::StagedRow& right) {
    return left.row_number < right.row_number;
}

void reject_repeated_numbers(const std::vector<NewRow>& rows) {
    // As clients usually send them.
    if (std::ranges::is_sorted(rows, std::less_equal(), &NewRow::number)) return;
    std::set<std::int64_t> seen;  // no hash table: the caller chooses the numbers
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

// Rows for the same stored part, or for a new block.
struct Destination {
    rules::BlockKey key;
    int stored_rows = 0;       // 0: a new block
    bool is_replaced = false;  // the call has every row number of the stored part
    BlockRows rows;
};

using Parts = std::vector<store::StoredPart>;

bool by_key(const rules::BlockKey& key, const store::StoredPart& part) {
    return key < part.key;
}

// The stored part for a row: the last part of its block that begins at or before the row, or else
// the block's first part. Returns the end if the block is new. Requires sorted `parts`.
Parts::const_iterator part_for(std::uint32_t row_number, const Parts& parts) {
    const rules::BlockKey target{rules::block_of(row_number), rules::index_in_block(row_number)};
    const auto next = std::upper_bound(parts.begin(), parts.end(), target, by_key);
    if (next != parts.begin() && std::prev(next)->key.number == target.number) {
        return std::prev(next);
    }
    return next != parts.end() && next->key.number == target.number ? next : parts.end();
}

// How many row numbers belong to the part.
std::size_t row_numbers_of(Parts::const_iterator part, const Parts& parts) {
    const auto is_same_block = [&](Parts::const_iterator other) {
        return other->key.number == part->key.number;
    };
    const bool is_first = part == parts.begin() || !is_same_block(std::prev(part));
    const bool is_last = std::next(part) == parts.end() || !is_same_block(std::next(part));
    const int begin = is_first ? 0 : part->key.part;
    const int end = is_last ? static_cast<int>(rules::kBlockRows) : std::next(part)->key.part;
    return static_cast<std::size_t>(end - begin);
}

// The destination of each run of rows. Requires sorted `rows`; the destinations are sorted too.
std::vector<Destination> destinations_of(const std::vector<rules::StagedRow>& rows,
                                         const Parts& parts) {
    std::vector<Destination> destinations;
    std::size_t from = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto part = part_for(rows[i].row_number, parts);
        const bool is_stored = part != parts.end();
        const auto key =
            is_stored ? part->key : rules::BlockKey{rules::block_of(rows[i].row_number), 0};
        if (destinations.empty() || destinations.back().key != key) {
            destinations.push_back({key, is_stored ? part->rows : 0, false, {}});
            from = i;
        }
        Destination& to = destinations.back();
        to.rows = BlockRows(rows).subspan(from, i + 1 - from);
        to.is_replaced = is_stored && to.rows.size() == row_numbers_of(part, parts);
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

std::size_t packed_size(const RowsWithOutcomes& rows) {
    std::size_t bytes = 0;
    for (const auto& [row, outcome] : rows) bytes += rules::encoded_size(row);
    return bytes;
}

// Packs the rows of one block, which take so many bytes. A part that would exceed kMaxPartBytes
// begins a new part.
std::vector<store::NewBlock> pack(RowsWithOutcomes&& rows, std::size_t bytes) {
    std::vector<store::NewBlock> parts;
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

// What a call writes. Only the parts that its rows belong to, so a small call is cheap in a large
// job.
struct Rewrite {
    std::vector<rules::BlockKey> replaced;
    std::vector<store::NewBlock> parts;
    std::size_t bytes_read = 0;
    std::size_t bytes_written = 0;
    std::size_t rows_written = 0;
    int added = 0;  // rows that the job gains

    bool is_too_large() const {
        return std::max(bytes_read, bytes_written) > kMostRewrittenBytes ||
               rows_written > kMostRewrittenRows;
    }
};

// The rows before this destination fit. If it is the first one, half of its rows may fit: values
// can grow when they are stored, such as "\b" to "\u0008". Repeating a call that was accepted
// rewrites the same parts, so it is accepted too.
[[noreturn]] void reject_rewrite(const std::vector<rules::StagedRow>& rows, const Destination& to) {
    const auto before = static_cast<std::size_t>(to.rows.data() - rows.data());
    const std::size_t fitting = before > 0 ? before : std::max<std::size_t>(to.rows.size() / 2, 1);
    Faults faults;
    faults.add("rows", FieldCode::TooLong,
               "rewrites more than " + std::to_string(kMostRewrittenBytes >> 20U) + " MiB or " +
                   std::to_string(kMostRewrittenRows) +
                   " rows of staged blocks; send the rows up to number " +
                   std::to_string(rows[fitting - 1].row_number) +
                   " in one call and the others in further calls",
               longest(fitting));
    throw Error(ErrorCode::ValidationError).fields(faults);
}

// Does not pack rows that are too large: they can have three times the size of the body.
void add_run(Rewrite& rewrite, const Destination& to, RowsWithOutcomes rows) {
    rewrite.added += static_cast<int>(rows.size()) - to.stored_rows;
    rewrite.rows_written += rows.size();
    if (to.stored_rows > 0) rewrite.replaced.push_back(to.key);
    const std::size_t bytes = packed_size(rows);
    rewrite.bytes_written += bytes;
    if (rewrite.is_too_large()) return;
    for (store::NewBlock& part : pack(std::move(rows), bytes)) {
        rewrite.parts.push_back(std::move(part));
    }
}

// Reads the parts of these destinations together.
void add_runs(db::OrgStore& org, ImportId id, std::span<const Destination> destinations,
              const std::vector<rules::StagedRow>& rows, Rewrite& rewrite) {
    std::vector<rules::BlockKey> keys;
    for (const Destination& to : destinations) {
        if (to.stored_rows > 0 && !to.is_replaced) keys.push_back(to.key);
    }
    const auto stored = store::read_parts(org, id, keys);
    if (stored.size() != keys.size()) {
        throw std::runtime_error("a block of a locked import job does not exist");
    }
    auto old = stored.begin();
    for (const Destination& to : destinations) {
        const bool is_merged = old != stored.end() && old->key == to.key;
        if (is_merged) rewrite.bytes_read += old->data.size();
        add_run(rewrite, to, is_merged ? merged_rows(*old++, to.rows) : fresh_rows(to.rows));
        if (rewrite.is_too_large()) reject_rewrite(rows, to);
    }
}

// How many of the first destinations have stored parts of at most 32 MiB together; 1 or more.
std::size_t count_read_at_once(std::span<const Destination> destinations) {
    constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
    // 100 attributes of 4 KiB, their keys and the core fields.
    constexpr std::size_t kMostRowBytes = std::size_t{512} << 10U;
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (const Destination& to : destinations) {
        bytes += std::min(rules::kMaxPartBytes,
                          static_cast<std::size_t>(to.stored_rows) * kMostRowBytes);
        if (count > 0 && bytes > kMostBytes) break;
        ++count;
    }
    return count;
}

Rewrite rewrite_of(db::OrgStore& org, ImportId id, const std::vector<rules::StagedRow>& rows) {
    const auto destinations =
        destinations_of(rows, store::find_parts(org, id, block_numbers_of(rows)));
    Rewrite rewrite;
    std::span<const Destination> left = destinations;
    while (!left.empty()) {
        const auto some = left.first(count_read_at_once(left));
        add_runs(org, id, some, rows, rewrite);
        left = left.subspan(some.size());
    }
    return rewrite;
}

// For the limit of the day: the rows of the call, or what it writes beyond 128 KiB if that is more.
// Blocks of small rows take less, so a client may stage one row per call.
std::int64_t counted_bytes(const std::vector<rules::StagedRow>& rows, const Rewrite& rewrite) {
    constexpr std::size_t kFreeBytes = std::size_t{128} << 10U;
    std::size_t sent = 0;
    for (const rules::StagedRow& row : rows) sent += rules::encoded_size(row);
    const std::size_t beyond = std::max(rewrite.bytes_written, kFreeBytes) - kFreeBytes;
    return static_cast<std::int64_t>(std::max(sent, beyond));
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
    const Rewrite rewrite = rewrite_of(org, id, sorted);
    // The job's lock is held, so only calls that wait for it too count here.
    take(org, rules::Quota::StagedBytes, counted_bytes(sorted, rewrite),
         bytes_of_mib(limits.staged_mib), transaction.now);
    if (!store::add_staged_rows(org, id, rewrite.added, kMostImportRows, transaction.now)) {
        throw Error(ErrorCode::ImportRowLimitExceeded)
            .detail("staged_rows", Json::Int64(job.staged_rows))
            .detail("limit", Json::Int64(kMostImportRows));
    }
    store::delete_parts(org, id, rewrite.replaced);
    store::insert_blocks(org, id, rewrite.parts, transaction.now);
}

}  // namespace muster::service
