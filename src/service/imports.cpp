#include "service/imports.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "base/json.hpp"
#include "db/transaction.hpp"
#include "rules/import_block.hpp"
#include "service/attributes.hpp"
#include "store/import_blocks.hpp"
#include "store/imports.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <unordered_set>

namespace muster::service {
namespace {

using rules::ImportState;

constexpr Milliseconds kRetention{std::int64_t{30} * 24 * 3600 * 1000};

[[noreturn]] void refuse_state(ImportState state, std::string_view expected) {
    throw Error(ErrorCode::ImportJobInvalidState)
        .detail("state", std::string(text_of(state)))
        .detail("expected", std::string(expected));
}

rules::ImportJob locked(db::OrgStore& org, ImportId id, Timestamp now) {
    auto job = store::lock_import(org, id, now);
    if (!job) throw Error(ErrorCode::NotFound);
    return std::move(*job);
}

rules::ImportJob reread(db::OrgStore& org, ImportId id, Timestamp now) {
    auto job = store::find_import(org, id, now);
    if (!job) throw std::runtime_error("a locked import job is gone");
    return std::move(*job);
}

std::string mapping_json(const rules::Mapping& mapping) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object();
    writer.key("columns");
    writer.begin_array();
    for (const rules::MappingColumn& column : mapping.columns) {
        writer.begin_object();
        const auto member = [&](std::string_view name, const std::string& value) {
            if (value.empty()) return;
            writer.key(name);
            writer.string(value);
        };
        member("sourceColumn", column.source_column);
        member("target", column.target);
        member("fieldKey", column.field_key);
        member("attributeKey", column.attribute_key);
        writer.end_object();
    }
    writer.end_array();
    writer.end_object();
    return text;
}

// ---------------------------------------------------------------------------- staging

using BlockRows = std::span<const rules::StagedRow>;

bool by_number(const rules::StagedRow& left, const rules::StagedRow& right) {
    return left.row_number < right.row_number;
}

void refuse_repeated_numbers(const std::vector<NewRow>& rows) {
    std::unordered_set<std::int64_t> seen;
    seen.reserve(rows.size());
    Faults faults;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (seen.insert(rows[i].number).second) continue;
        faults.add("rows[" + std::to_string(i) + "].rowNumber", FieldCode::Duplicate);
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

// The call's rows in the order of their numbers, as views into `rows`.
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

// The runs of rows that fall into one block each.
std::map<std::uint32_t, BlockRows> rows_by_block(const std::vector<rules::StagedRow>& rows) {
    std::map<std::uint32_t, BlockRows> blocks;
    for (std::size_t from = 0; from < rows.size();) {
        const std::uint32_t number = rules::block_of(rows[from].row_number);
        std::size_t to = from;
        while (to < rows.size() && rules::block_of(rows[to].row_number) == number) ++to;
        blocks.emplace(number, BlockRows(rows).subspan(from, to - from));
        from = to;
    }
    return blocks;
}

// Old and new rows of a block in order; a new row takes the place of the old one of its number.
std::vector<rules::StagedRow> merged_rows(const std::vector<rules::StagedRow>& old,
                                          BlockRows fresh) {
    std::vector<rules::StagedRow> merged(fresh.begin(), fresh.end());
    for (const rules::StagedRow& row : old) {
        if (!std::binary_search(fresh.begin(), fresh.end(), row, by_number)) merged.push_back(row);
    }
    std::sort(merged.begin(), merged.end(), by_number);
    return merged;
}

// Packs a block's rows; a new part begins where one would pass its limit of bytes.
void pack(std::uint32_t number, BlockRows rows, std::vector<store::NewBlock>& to) {
    int part = 0;
    to.push_back({{number, part}, 0, {}});
    std::size_t bytes = 0;
    for (const rules::StagedRow& row : rows) bytes += rules::encoded_size(row);
    to.back().data.reserve(std::min(bytes, rules::kMaxPartBytes));
    for (const rules::StagedRow& row : rows) {
        if (to.back().rows > 0 &&
            to.back().data.size() + rules::encoded_size(row) > rules::kMaxPartBytes) {
            to.push_back({{number, ++part}, 0, {}});
        }
        rules::append_row(to.back().data, row);
        ++to.back().rows;
    }
}

// Blocks that this call makes or changes, ready to be inserted; changed ones are deleted. How many
// rows the job gains comes back.
int merge_with_stored(db::OrgStore& org, ImportId id,
                      const std::map<std::uint32_t, BlockRows>& fresh,
                      std::vector<store::NewBlock>& to) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(fresh.size());
    for (const auto& [number, rows] : fresh) numbers.push_back(number);
    std::map<std::uint32_t, std::vector<rules::StagedRow>> old;
    const auto stored = store::lock_blocks(org, id, numbers);
    for (const store::Block& block : stored) {
        auto rows = rules::decode_rows(block.data);
        auto& all = old[block.key.number];
        all.insert(all.end(), rows.begin(), rows.end());
    }
    int gained = 0;
    for (const auto& [number, rows] : fresh) {
        const auto before = old.find(number);
        if (before == old.end()) {
            pack(number, rows, to);
            gained += static_cast<int>(rows.size());
            continue;
        }
        const auto merged = merged_rows(before->second, rows);
        pack(number, merged, to);
        gained += static_cast<int>(merged.size() - before->second.size());
        store::delete_block(org, id, number);
    }
    return gained;
}

}  // namespace

rules::ImportJob create_import(Unit& unit, const NewImport& in) {
    db::OrgStore org(unit.tx, unit.org());
    Faults faults;
    rules::check_mapping(in.mapping, attribute_registry(unit.tx, unit.org()), faults);
    if (!faults.empty()) throw Error(ErrorCode::ImportMappingInvalid).fields(faults);

    rules::ImportJob job;
    job.id = ImportId::create();
    job.organization_id = unit.org();
    job.created_by_id = unit.actor.admin;
    job.source = unit.actor.admin ? rules::ImportSource::Console : rules::ImportSource::Api;
    job.mapping = mapping_json(in.mapping);
    job.file_name = in.file_name;
    job.declared_total = in.declared_total;
    job.created_at = job.updated_at = unit.now;
    job.expires_at = unit.now + kRetention;
    if (const auto active = store::insert_import(org, job)) {
        throw Error(ErrorCode::ImportJobActiveExists).detail("job_id", active->text());
    }
    return job;
}

void stage_rows(Unit& unit, ImportId id, const std::vector<NewRow>& rows) {
    refuse_repeated_numbers(rows);
    const auto sorted = sorted_rows(rows);
    const auto fresh = rows_by_block(sorted);
    db::OrgStore org(unit.tx, unit.org());
    // Calls for one job write one after the other: their packing above ran side by side.
    const auto job = locked(org, id, unit.now);
    if (job.state != ImportState::Staging) refuse_state(job.state, "staging");
    if (rows.empty()) return;
    std::vector<store::NewBlock> blocks;
    const int gained = merge_with_stored(org, id, fresh, blocks);
    if (job.staged_rows + gained > kMostImportRows) {
        throw Error(ErrorCode::ImportRowLimitExceeded)
            .detail("staged_rows", Json::Int64(job.staged_rows))
            .detail("limit", Json::Int64(kMostImportRows));
    }
    store::insert_blocks(org, id, blocks, unit.now);
    if (!store::add_staged_rows(org, id, gained, kMostImportRows, unit.now)) {
        throw std::runtime_error("a locked import job did not take its rows");
    }
}

rules::ImportJob validate_import(Unit& unit, ImportId id) {
    db::OrgStore org(unit.tx, unit.org());
    const auto job = locked(org, id, unit.now);
    if (job.state != ImportState::Staging) refuse_state(job.state, "staging");
    store::move_import_to_validating(org, id, false, unit.now);
    return reread(org, id, unit.now);
}

rules::ImportJob commit_import(Unit& unit, ImportId id, std::optional<bool> dry_run) {
    db::OrgStore org(unit.tx, unit.org());
    auto job = locked(org, id, unit.now);
    if (job.state == ImportState::Validated) {
        if (dry_run == true) return job;  // asks for nothing that has not been done
        store::move_import(org, id, ImportState::Validated, ImportState::Committing, unit.now);
    } else if (job.state == ImportState::Staging && dry_run == false) {
        store::move_import_to_validating(org, id, true, unit.now);
    } else {
        refuse_state(job.state, "validated");
    }
    return reread(org, id, unit.now);
}

rules::ImportJob cancel_import(Unit& unit, ImportId id) {
    db::OrgStore org(unit.tx, unit.org());
    auto job = locked(org, id, unit.now);
    if (job.state == ImportState::Canceled) return job;
    if (!rules::can_cancel(job.state)) refuse_state(job.state, "staging, validating or validated");
    store::move_import(org, id, job.state, ImportState::Canceled, unit.now);
    return reread(org, id, unit.now);
}

void cancel_import_now(Context& context, OrgId organization, ImportId id) {
    context.database.transaction([&](db::Tx& tx) {
        Unit unit{tx, {organization, std::nullopt}, Timestamp::now()};
        cancel_import(unit, id);
    });
}

std::optional<rules::ImportJob> read_import(Context& context, OrgId organization, ImportId id) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_import(org, id, Timestamp::now());
    });
}

std::optional<rules::ImportJob> poll_import(Context& context, const Actor& actor, ImportId id) {
    auto job = read_import(context, actor.organization, id);
    if (!job || job->state != ImportState::Validated || !job->commit_requested) return job;
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, actor.organization);
        const Timestamp now = Timestamp::now();
        store::move_import(org, id, ImportState::Validated, ImportState::Committing, now);
        return store::find_import(org, id, now);
    });
}

std::vector<rules::ImportJob> list_imports(Context& context, OrgId organization,
                                           std::optional<ImportId> before,
                                           std::optional<ImportState> state, int limit) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_imports(org, before, state, limit + 1, Timestamp::now());
    });
}

}  // namespace muster::service
