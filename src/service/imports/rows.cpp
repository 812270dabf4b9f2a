#include "service/imports/rows.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "db/transaction.hpp"
#include "rules/imports/block.hpp"
#include "rules/members/core_fields.hpp"
#include "service/imports/jobs.hpp"
#include "store/imports/blocks.hpp"

namespace muster::service {
namespace {

using rules::RowState;
using store::BlockFilter;
using store::BlockKey;

constexpr int kBlocksAtOnce = 4;
constexpr std::size_t kPageBytes = std::size_t{4} << 20U;

BlockFilter filter_for(std::optional<RowState> state) {
    if (!state) return BlockFilter::All;
    switch (*state) {
        case RowState::Staged:
            return BlockFilter::Staged;
        case RowState::Valid:
            return BlockFilter::Valid;
        case RowState::Invalid:
            return BlockFilter::Invalid;
        case RowState::Created:
            return BlockFilter::Created;
        case RowState::Attached:
            return BlockFilter::Attached;
        case RowState::Merged:
            return BlockFilter::Merged;
        case RowState::Failed:
            return BlockFilter::Failed;
    }
    return BlockFilter::All;
}

std::string payload_json(const rules::StagedRow& row) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object();
    for (const auto& entry : rules::kCoreFields) {
        const std::string_view value = row.text(entry.field);
        writer.key(entry.name);
        value.empty() ? writer.null() : writer.string(value);
    }
    writer.key("attributes");
    writer.raw(row.attributes().empty() ? "{}" : row.attributes());
    writer.end_object();
    return text;
}

rules::ImportRow record_of(ImportId job, const store::Block& block, const rules::StagedRow& row,
                           const rules::RowOutcome& outcome) {
    rules::ImportRow record;
    record.id = job.text() + ":" + std::to_string(row.row_number);
    record.job_id = job;
    record.row_number = row.row_number;
    record.state = outcome.state;
    record.error = outcome.error;
    record.error_key = outcome.key;
    if (outcome.has_user()) record.user_id = outcome.user_id;
    record.payload = payload_json(row);
    record.created_at = block.staged_at;
    record.updated_at = block.updated_at;
    return record;
}

// Calls `visit(block, row, outcome)` for each row of the matching blocks, from row `after` + 1,
// until it returns false. Each batch of blocks is a separate read, so a slow reader holds no locks.
template <class Visit>
void for_each_row(Context& context, OrgId organization, ImportId id, std::int64_t after,
                  BlockFilter filter, const Visit& visit) {
    BlockKey from{rules::block_of(static_cast<std::uint32_t>(after + 1)), 0};
    for (;;) {
        const auto blocks = context.database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            return store::read_blocks(org, id, from, filter, kBlocksAtOnce);
        });
        if (blocks.empty()) return;
        for (const store::Block& block : blocks) {
            const auto rows = rules::decode_rows(block.data);
            const auto outcomes = rules::decode_outcomes(block.outcome, rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (rows[i].row_number > after && !visit(block, rows[i], outcomes[i])) return;
            }
        }
        from = blocks.back().key.next();
    }
}

void append_line(std::string& text, const rules::StagedRow& row, const rules::RowOutcome& outcome,
                 CsvCells cells) {
    for (const std::string_view cell : row.texts) {
        append_csv_cell(text, cell, cells);
        text += ',';
    }
    text += std::to_string(row.row_number);
    text += ',';
    text += text_of(outcome.error);
    text += ',';
    append_csv_cell(text, rules::row_error_message(outcome.error, outcome.key), cells);
    text += "\r\n";
}

std::string header_line() {
    std::string line;
    for (const auto& entry : rules::kCoreFields) line += std::string(entry.name) + ",";
    return line + "attributes,row_number,error_code,error_message\r\n";
}

bool is_faulty(RowState state) {
    return state == RowState::Invalid || state == RowState::Failed;
}

}  // namespace

std::optional<ImportRowPage> list_import_rows(Context& context, OrgId organization, ImportId id,
                                              std::int64_t after, std::optional<RowState> state,
                                              int limit) {
    if (!read_import(context, organization, id)) return std::nullopt;
    ImportRowPage page;
    std::size_t bytes = 0;
    for_each_row(context, organization, id, after, filter_for(state),
                 [&](const store::Block& block, const rules::StagedRow& row,
                     const rules::RowOutcome& outcome) {
                     if (state && outcome.state != *state) return true;
                     const bool is_full = static_cast<int>(page.rows.size()) == limit;
                     page.has_more = is_full || bytes > kPageBytes;
                     if (page.has_more) return false;
                     page.rows.push_back(record_of(id, block, row, outcome));
                     bytes += page.rows.back().payload.size();
                     return true;
                 });
    return page;
}

void write_error_report(Context& context, OrgId organization, ImportId id, bool raw,
                        const std::function<bool(std::string_view)>& sink) {
    constexpr std::size_t kChunkBytes = 64U << 10U;
    const CsvCells cells = raw ? CsvCells::Raw : CsvCells::Guarded;
    std::string text = header_line();
    for_each_row(
        context, organization, id, 0, BlockFilter::Faulty,
        [&](const store::Block&, const rules::StagedRow& row, const rules::RowOutcome& outcome) {
            if (!is_faulty(outcome.state)) return true;
            append_line(text, row, outcome, cells);
            if (text.size() < kChunkBytes) return true;
            const bool should_continue = sink(text);
            text.clear();
            return should_continue;
        });
    if (!text.empty()) sink(text);
}

}  // namespace muster::service
