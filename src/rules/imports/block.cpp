#include "rules/imports/block.hpp"

#include "rules/imports/block_bytes.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/core_fields.hpp"

namespace muster::rules {
namespace {

static_assert(StagedRow::kTexts == kCoreFieldCount + 1);

constexpr std::size_t kFixedBytes = 4 + 2 * Uuid::kBytes;

template <class Enum>
Enum checked(std::uint8_t value, Enum last) {
    if (value > static_cast<std::uint8_t>(last)) throw CorruptBlock();
    return static_cast<Enum>(value);
}

bool is_address_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '+';
}

// Whether the text contains the address, and not only as a part of a longer word.
bool contains_address(std::string_view text, std::string_view email) {
    for (std::size_t at = text.find(email); at != std::string_view::npos;
         at = text.find(email, at + 1)) {
        const std::size_t end = at + email.size();
        const bool begins = at == 0 || !is_address_character(text[at - 1]);
        const bool ends = end == text.size() || !is_address_character(text[end]);
        if (begins && ends) return true;
    }
    return false;
}

bool is_of_person(const StagedRow& row, std::string_view email) {
    if (row.email() == email) return true;
    return !email.empty() && holds_faults(row.attributes()) && contains_address(row.email(), email);
}

}  // namespace

StagedRow staged_row(std::uint32_t row_number, const MemberFields& fields) {
    StagedRow row;
    row.row_number = row_number;
    row.user_id = UserId::create();
    row.member_id = MemberId::create();
    for (std::size_t i = 0; i < kCoreFields.size(); ++i) row.texts[i] = fields.*kCoreFields[i].sent;
    row.texts.back() = fields.attributes;
    return row;
}

RowOutcome outcome_before_validation(const StagedRow& row) {
    if (!holds_faults(row.attributes())) return {};
    const KeptFaults kept = unpack_faults(row.attributes());
    return {RowState::Invalid,
            RowError::FieldInvalid,
            kept.faults.empty() ? "" : kept.faults.front().path,
            {}};
}

std::size_t encoded_size(const StagedRow& row) {
    std::size_t size = kFixedBytes;
    for (const std::string_view text : row.texts) {
        size += text.size() + 1;
        for (std::size_t length = text.size(); length >= 0x80; length >>= 7U) ++size;
    }
    return size;
}

void append_row(std::string& block, const StagedRow& row) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        block += static_cast<char>(row.row_number >> static_cast<unsigned>(shift));
    }
    block += row.user_id.bytes();
    block += row.member_id.bytes();
    for (const std::string_view text : row.texts) {
        append_varint(block, text.size());
        block += text;
    }
}

std::vector<StagedRow> decode_rows(std::string_view block) {
    std::vector<StagedRow> rows;
    rows.reserve(kBlockRows);
    for (BlockReader reader(block); !reader.done();) {
        StagedRow& row = rows.emplace_back();
        row.row_number = reader.number();
        row.user_id = UserId(reader.uuid());
        row.member_id = MemberId(reader.uuid());
        for (std::string_view& text : row.texts) text = reader.take(reader.varint());
    }
    return rows;
}

Redaction redact_rows(std::string_view block, std::string_view email) {
    Redaction redaction;
    redaction.block.reserve(block.size());
    for (StagedRow& row : decode_rows(block)) {
        if (is_of_person(row, email)) {
            row.texts = {};
            ++redaction.rows;
        }
        append_row(redaction.block, row);
    }
    return redaction;
}

std::string encode_outcomes(const std::vector<RowOutcome>& outcomes) {
    std::string bytes;
    bytes.reserve(outcomes.size() * 20);
    for (const RowOutcome& outcome : outcomes) {
        bytes += static_cast<char>(outcome.state);
        bytes += static_cast<char>(outcome.error);
        append_varint(bytes, outcome.key.size());
        bytes += outcome.key;
        if (outcome.has_user()) bytes += outcome.user_id.bytes();
    }
    return bytes;
}

std::vector<RowOutcome> decode_outcomes(std::string_view bytes, std::size_t rows) {
    std::vector<RowOutcome> outcomes(rows);
    if (bytes.empty()) return outcomes;
    BlockReader reader(bytes);
    for (RowOutcome& outcome : outcomes) {
        outcome.state = checked(reader.byte(), RowState::Failed);
        outcome.error = checked(reader.byte(), RowError::FieldInvalid);
        outcome.key = reader.take(reader.varint());
        if (outcome.has_user()) outcome.user_id = UserId(reader.uuid());
    }
    if (!reader.done()) throw CorruptBlock();
    return outcomes;
}

RowCounts count_states(const std::vector<RowOutcome>& outcomes) {
    RowCounts counts;
    for (const RowOutcome& outcome : outcomes) {
        switch (outcome.state) {
            case RowState::Staged:
                break;
            case RowState::Valid:
                ++counts.valid;
                break;
            case RowState::Invalid:
                ++counts.invalid;
                break;
            case RowState::Created:
                ++counts.created;
                break;
            case RowState::Attached:
                ++counts.attached;
                break;
            case RowState::Merged:
                ++counts.merged;
                break;
            case RowState::Failed:
                ++counts.failed;
                break;
        }
    }
    return counts;
}

}  // namespace muster::rules
