#include "rules/imports/block.hpp"

#include "base/email.hpp"
#include "rules/imports/block_bytes.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/core_fields.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

static_assert(StagedRow::kTexts == kCoreFieldCount + 1);

constexpr std::size_t kFixedBytes = 4 + 2 * Uuid::kBytes;

// The key of a merged row's outcome holds what was filled: a byte with the bits of the texts and
// one for the attributes; if it is not 0, the time; if there are attributes, their bits. Programs
// before schema version 7 left it empty, and do not read it.
constexpr std::uint8_t kHasAttributes = 1U << kTextFieldCount;
static_assert(kTextFieldCount < 8);

std::string packed(const FilledRow& filled) {
    if (!filled.values.any()) return std::string(1, '\0');
    std::string bytes(1, static_cast<char>(filled.values.texts));
    const auto at = static_cast<std::uint64_t>(filled.at.milliseconds());
    for (unsigned shift = 64; shift > 0; shift -= 8) bytes += static_cast<char>(at >> (shift - 8));
    const std::vector<bool>& attributes = filled.values.attributes;
    if (attributes.empty()) return bytes;
    bytes[0] = static_cast<char>(filled.values.texts | kHasAttributes);
    bytes.resize(bytes.size() + (attributes.size() + 7) / 8);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        char& byte = bytes[9 + i / 8];
        byte = static_cast<char>(byte | (attributes[i] ? 1U << i % 8 : 0U));
    }
    return bytes;
}

std::optional<FilledRow> unpacked(std::string_view bytes) {
    if (bytes.empty()) return std::nullopt;
    FilledRow filled;
    BlockReader reader(bytes);
    const std::uint8_t head = reader.byte();
    filled.values.texts = head & static_cast<std::uint8_t>(kHasAttributes - 1);
    if (reader.done() && head == 0) return filled;
    std::uint64_t at = 0;
    for (const char c : reader.take(8)) at = at << 8U | static_cast<std::uint8_t>(c);
    filled.at = Timestamp(static_cast<std::int64_t>(at));
    if ((head & kHasAttributes) == 0 && !reader.done()) throw CorruptBlock();
    while (!reader.done()) {
        const std::uint8_t byte = reader.byte();
        for (unsigned bit = 0; bit < 8; ++bit) {
            filled.values.attributes.push_back((byte >> bit & 1U) != 0);
        }
    }
    return filled;
}

template <class Enum>
Enum checked(std::uint8_t value, Enum last) {
    if (value > static_cast<std::uint8_t>(last)) throw CorruptBlock();
    return static_cast<Enum>(value);
}

// Whether a text of a malformed row names the address. A valid address is only equal to it or not.
bool names_address(std::string_view text, std::string_view email) {
    std::string folded(text);
    fold_email(folded);
    return is_email(folded) ? folded == email : mentions_email(folded, email);
}

bool is_of_person(const StagedRow& row, std::string_view email) {
    if (row.email() == email) return true;
    if (email.empty() || !holds_faults(row.attributes())) return false;
    return std::any_of(row.texts.begin(), row.texts.end() - 1,
                       [email](std::string_view text) { return names_address(text, email); });
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
        const std::string filled = outcome.filled ? packed(*outcome.filled) : "";
        const std::string& key = outcome.state == RowState::Merged ? filled : outcome.key;
        append_varint(bytes, key.size());
        bytes += key;
        if (outcome.has_user()) bytes += outcome.user_id.bytes();
    }
    return bytes;
}

std::vector<RowOutcome> decode_outcomes(std::string_view bytes, std::size_t rows) {
    std::vector<RowOutcome> outcomes(rows);
    if (bytes.empty()) return outcomes;
    BlockReader reader(bytes);
    for (RowOutcome& outcome : outcomes) {
        outcome.state = checked(reader.byte(), RowState::Kept);
        outcome.error = checked(reader.byte(), RowError::NotRecorded);
        const std::string_view key = reader.take(reader.varint());
        if (outcome.state == RowState::Merged) {
            outcome.filled = unpacked(key);
        } else {
            outcome.key = key;
        }
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
            case RowState::Removed:
                ++counts.removed;
                break;
            case RowState::Detached:
                ++counts.detached;
                break;
            case RowState::Emptied:
                ++counts.emptied;
                break;
            case RowState::Kept:
                ++counts.kept;
                break;
        }
    }
    return counts;
}

}  // namespace muster::rules
