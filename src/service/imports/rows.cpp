#include "service/imports/rows.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/imports/block.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/core_fields.hpp"
#include "service/imports/members.hpp"
#include "store/id_bounds.hpp"
#include "store/imports/blocks.hpp"
#include "store/imports/jobs.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::RowState;
using store::BlockKey;

// A batch has as many blocks as fit in these bytes, if none is larger than those before; 1 to 4.
constexpr std::size_t kBlocksAtOnce = 4;
constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20U;
// The most JSON of a page. A single row is always smaller.
constexpr std::size_t kPageBytes = std::size_t{4} << 20U;
// More than the other fields of a row or of a fault need, with the names of all their fields.
constexpr std::size_t kFixedRowBytes = 512;
constexpr std::size_t kFixedFaultBytes = 64;
// A page examines at most this much, because blocks with matching states may hold no matching
// error.
constexpr ReadLimits kPageLimits{.blocks = 256, .bytes = std::size_t{32} << 20U};
const store::RowStates kWithErrors = {RowState::Invalid, RowState::Failed, RowState::Kept};

std::string payload_json(const rules::StagedRow& row, std::string_view attributes) {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object();
    for (const auto& entry : rules::kCoreFields) {
        const std::string_view value = row.text(entry.field);
        writer.key(entry.name);
        value.empty() ? writer.null() : writer.string(value);
    }
    writer.key("attributes");
    writer.raw(attributes.empty() ? "{}" : attributes);
    writer.end_object();
    return text;
}

std::string message_of(const rules::RowOutcome& outcome,
                       const std::vector<rules::RowFault>& faults) {
    return outcome.error == rules::RowError::FieldInvalid && !faults.empty()
               ? rules::row_faults_message(faults)
               : rules::row_error_message(outcome.error, outcome.key);
}

rules::ImportRow record_of(ImportId job, const store::Block& block, const rules::StagedRow& row,
                           const rules::RowOutcome& outcome) {
    rules::ImportRow record;
    record.id = job.text() + ":" + std::to_string(row.row_number);
    record.job_id = job;
    record.row_number = row.row_number;
    record.state = outcome.state;
    record.error = outcome.error;
    auto kept = rules::unpack_faults(row.attributes());
    record.faults = std::move(kept.faults);
    record.error_message = message_of(outcome, record.faults);
    if (outcome.has_user()) record.user_id = outcome.user_id;
    record.payload = payload_json(row, kept.attributes);
    record.created_at = block.staged_at;
    record.updated_at = block.updated_at;
    return record;
}

std::size_t json_size(std::string_view text) {
    std::string json;
    append_json_string(json, text);
    return json.size();
}

// An upper bound of the row's bytes in a reply.
std::size_t json_size(const rules::ImportRow& row) {
    std::size_t bytes = kFixedRowBytes + row.payload.size() + json_size(row.error_message);
    for (const rules::RowFault& fault : row.faults) {
        bytes += kFixedFaultBytes + json_size(fault.path) + field_code_text(fault.code).size() +
                 field_code_message(fault.code).size();
    }
    return bytes;
}

// The stored part from which all rows from this number on are read: the last part of its block that
// begins at or before the row. Earlier parts can be more than one page examines.
BlockKey part_of(Context& context, OrgId organization, ImportId id, std::uint32_t row_number) {
    BlockKey from{rules::block_of(row_number), 0};
    const int index = rules::index_in_block(row_number);
    if (index == 0) return from;
    const auto parts = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_parts(org, id, {&from.number, 1});
    });
    for (const store::StoredPart& part : parts) {
        if (part.key.part <= index) from = part.key;
    }
    return from;
}

bool has_import(Context& context, OrgId organization, ImportId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_import(org, id, Timestamp::now()).has_value();
    });
}

struct VisitedRow {
    const store::Block& block;
    const rules::StagedRow& row;
    const rules::RowOutcome& outcome;
};

// The rows of the blocks that have a row in one of the states, from row `after` + 1. Each batch of
// blocks is a separate read, so a slow reader holds no locks.
class RowReader {
  public:
    RowReader(Context& context, OrgId organization, ImportId id, std::int64_t after,
              const store::RowStates& states, ReadLimits limits)
        : context_(context),
          organization_(organization),
          id_(id),
          after_(after),
          states_(states),
          limits_(limits),
          from_(part_of(context, organization, id, static_cast<std::uint32_t>(after + 1))) {}

    // Calls `visit` for each row of the next batch until it returns false. Returns false if it did,
    // or if no block is left.
    template <class Visit>
    bool visit_batch(const Visit& visit) {
        const auto blocks = context_.database.autocommit([&](db::Tx& tx) {
            db::OrgStore org(tx, organization_);
            return store::read_blocks(org, id_, from_, states_, next_count());
        });
        for (const store::Block& block : blocks) {
            ++blocks_;
            bytes_ += block.data.size();
            largest_ = std::max(largest_, block.data.size());
            if (!visit_block(block, visit)) return false;
        }
        if (!blocks.empty()) from_ = blocks.back().key.next();
        return !blocks.empty();
    }

    bool has_reached_limit() const { return blocks_ >= limits_.blocks || bytes_ >= limits_.bytes; }

  private:
    // Large blocks are read one by one, so that each uses the memory of the one before.
    int next_count() const {
        if (blocks_ == 0) return 1;
        const std::size_t fitting = kBytesAtOnce / std::max<std::size_t>(largest_, 1);
        const std::size_t count = std::clamp<std::size_t>(fitting, 1, kBlocksAtOnce);
        const std::size_t left = limits_.blocks > blocks_ ? limits_.blocks - blocks_ : 1;
        return static_cast<int>(std::min(count, left));
    }

    template <class Visit>
    bool visit_block(const store::Block& block, const Visit& visit) {
        const auto rows = rules::decode_rows(block.data);
        const auto outcomes = rules::decode_outcomes(block.outcome, rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].row_number <= after_) continue;
            if (!visit(VisitedRow{block, rows[i], outcomes[i]})) return false;
        }
        return true;
    }

    Context& context_;
    OrgId organization_;
    ImportId id_;
    std::int64_t after_;
    const store::RowStates& states_;
    ReadLimits limits_;
    BlockKey from_;
    std::size_t blocks_ = 0;
    std::size_t bytes_ = 0;
    std::size_t largest_ = 0;
};

bool is_in(RowState state, const store::RowStates& states) {
    return std::find(states.begin(), states.end(), state) != states.end();
}

bool matches(const RowFilter& filter, const rules::RowOutcome& outcome) {
    if (!filter.states.empty() && !is_in(outcome.state, filter.states)) return false;
    return !filter.error || outcome.error == *filter.error;
}

// Only an invalid, failed or kept row has an error. nullopt if no row can match.
std::optional<store::RowStates> states_to_read(const RowFilter& filter) {
    if (!filter.error) return filter.states;
    if (filter.states.empty()) return kWithErrors;
    store::RowStates states;
    for (const RowState state : kWithErrors) {
        if (is_in(state, filter.states)) states.push_back(state);
    }
    return states.empty() ? std::nullopt : std::optional(states);
}

void append_line(std::string& text, const rules::StagedRow& row, const rules::RowOutcome& outcome,
                 CsvCells cells) {
    const auto kept = rules::unpack_faults(row.attributes());
    auto texts = row.texts;
    texts.back() = kept.attributes;
    for (const std::string_view cell : texts) {
        append_csv_cell(text, cell, cells);
        text += ',';
    }
    text += std::to_string(row.row_number);
    text += ',';
    text += text_of(outcome.error);
    text += ',';
    append_csv_cell(text, message_of(outcome, kept.faults), cells);
    text += "\r\n";
}

std::string header_line() {
    std::string line;
    for (const auto& entry : rules::kCoreFields) line += std::string(entry.name) + ",";
    return line + "attributes,row_number,error_code,error_message\r\n";
}

// A block has up to 500 rows, and at least one that was created or attached. The last block that
// was read is read again.
constexpr std::size_t kSourcedBlocks = 2;
constexpr int kSourcedReads = 4;

// The row of a block after which to continue; -1: before the first one.
struct RowPlace {
    BlockKey block;
    int index = -1;
};

// "12.0.345"
std::string place_text(const RowPlace& place) {
    return std::to_string(place.block.number) + "." + std::to_string(place.block.part) + "." +
           std::to_string(place.index);
}

RowPlace place_of(std::string_view text) {
    if (text.empty()) return {};
    const auto parts = split(text, '.');
    if (parts.size() != 3) throw std::invalid_argument("the position is not from a previous page");
    RowPlace place;
    place.block.number = parse_number<decltype(place.block.number)>(parts[0]).value_or(0);
    place.block.part = parse_number<decltype(place.block.part)>(parts[1]).value_or(0);
    place.index = parse_number<int>(parts[2]).value_or(0);
    return place;
}

// The largest id of the memberships that a committed block made. Staging creates their ids. A later
// membership of the same user begins after the commit, which writes `updated_at`.
MemberId last_membership(const store::BlockOutcome& block) {
    constexpr Milliseconds kLongestStaging{10'000};
    Timestamp last = block.staged_at + kLongestStaging;
    if (block.updated_at > block.staged_at) last = std::min(last, block.updated_at);
    return MemberId(*Uuid::from_bytes(store::id_after(last, Milliseconds(0))));
}

// Appends the members of a block after `place`, up to `limit` in all.
void add_members(const store::BlockOutcome& block, RowPlace& place, std::size_t limit,
                 std::vector<SourcedMember>& to) {
    const auto outcomes =
        rules::decode_outcomes(block.outcome, static_cast<std::size_t>(block.rows));
    const MemberId until = last_membership(block);
    const int first = block.key == place.block ? place.index + 1 : 0;
    place.block = block.key;
    for (int i = first; i < block.rows && to.size() < limit; ++i) {
        place.index = i;
        const auto& outcome = outcomes[static_cast<std::size_t>(i)];
        if (outcome.state != RowState::Created && outcome.state != RowState::Attached) continue;
        to.push_back({outcome.user_id, place_text(place), until});
    }
}

}  // namespace

std::optional<ImportRowPage> list_import_rows(Context& context, OrgId organization, ImportId id,
                                              std::int64_t after, const RowFilter& filter,
                                              int limit) {
    if (!has_import(context, organization, id)) return std::nullopt;
    ImportRowPage page;
    const auto states = states_to_read(filter);
    if (!states) return page;
    RowReader reader(context, organization, id, after, *states, kPageLimits);
    std::size_t bytes = 0;
    std::int64_t examined = after;
    const auto add = [&](const VisitedRow& at) {
        if (matches(filter, at.outcome)) {
            auto record = record_of(id, at.block, at.row, at.outcome);
            bytes += json_size(record);
            const bool is_too_large = bytes > kPageBytes && !page.rows.empty();
            if (is_too_large || static_cast<int>(page.rows.size()) == limit) {
                page.next = examined;
                return false;
            }
            page.rows.push_back(std::move(record));
        }
        examined = std::max<std::int64_t>(examined, at.row.row_number);
        return true;
    };
    while (reader.visit_batch(add)) {
        if (!reader.has_reached_limit() || examined == after) continue;
        page.next = examined;
        break;
    }
    return page;
}

std::optional<std::int64_t> write_error_report(Context& context, OrgId organization, ImportId id,
                                               const ReportPage& page,
                                               const std::function<void(std::string_view)>& sink) {
    const CsvCells cells = page.raw ? CsvCells::Raw : CsvCells::Guarded;
    std::string text = header_line();
    sink(text);
    std::size_t bytes = text.size();
    std::int64_t last = page.after;
    bool is_full = false;
    const auto add = [&](const VisitedRow& at) {
        if (is_in(at.outcome.state, kWithErrors)) {
            text.clear();
            append_line(text, at.row, at.outcome, cells);
            is_full = bytes + text.size() > page.most_bytes && last > page.after;
            if (is_full) return false;
            sink(text);
            bytes += text.size();
        }
        last = std::max<std::int64_t>(last, at.row.row_number);
        return true;
    };
    RowReader reader(context, organization, id, page.after, kWithErrors, page.limits);
    while (!is_full && reader.visit_batch(add)) {
        is_full = reader.has_reached_limit() && last > page.after;
    }
    return is_full ? std::optional(last) : std::nullopt;
}

MemberSource members_of_import(ImportId job) {
    return [job](db::OrgStore& org, std::string_view after, int limit) {
        RowPlace place = place_of(after);
        SourcedMembers found;
        const auto most = static_cast<std::size_t>(limit);
        for (int read = 0; read < kSourcedReads && found.has_more; ++read) {
            const auto blocks =
                store::read_new_members(org, job, place.block, static_cast<int>(kSourcedBlocks));
            for (const store::BlockOutcome& block : blocks) {
                add_members(block, place, most, found.members);
                if (found.members.size() == most) return found;
            }
            found.has_more = blocks.size() == kSourcedBlocks;
        }
        return found;
    };
}

}  // namespace muster::service
