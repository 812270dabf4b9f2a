#include "rules/imports/block.hpp"
#include "rules/members/core_fields.hpp"

namespace muster::rules {
namespace {

constexpr std::size_t kFixedBytes = 4 + 2 * Uuid::kBytes;

void append_varint(std::string& to, std::size_t value) {
    for (; value >= 0x80; value >>= 7U) to += static_cast<char>(value | 0x80U);
    to += static_cast<char>(value);
}

// Reads and checks every bound.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    bool done() const { return rest_.empty(); }

    std::string_view take(std::size_t count) {
        if (count > rest_.size()) throw CorruptBlock();
        const std::string_view bytes = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return bytes;
    }

    std::uint8_t byte() { return static_cast<std::uint8_t>(take(1).front()); }

    std::uint32_t number() {
        std::uint32_t value = 0;
        for (const char c : take(4)) value = value << 8U | static_cast<std::uint8_t>(c);
        return value;
    }

    std::size_t varint() {
        std::size_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            const std::uint8_t part = byte();
            value |= static_cast<std::size_t>(part & 0x7fU) << shift;
            if (part < 0x80) return value;
        }
        throw CorruptBlock();
    }

    Uuid uuid() { return *Uuid::from_bytes(take(Uuid::kBytes)); }

  private:
    std::string_view rest_;
};

template <class Enum>
Enum checked(std::uint8_t value, Enum last) {
    if (value > static_cast<std::uint8_t>(last)) throw CorruptBlock();
    return static_cast<Enum>(value);
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
    for (Reader reader(block); !reader.done();) {
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
        if (row.email() == email) {
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
    Reader reader(bytes);
    for (RowOutcome& outcome : outcomes) {
        outcome.state = checked(reader.byte(), RowState::Failed);
        outcome.error = checked(reader.byte(), RowError::WriteFailed);
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
