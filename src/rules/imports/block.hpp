// Staged rows packed into blocks, and the outcomes of the rows. Imports are staged, checked,
// committed and reported in blocks. Pure encoding; store/imports/blocks.cpp stores the bytes.
#pragma once

#include "base/ids.hpp"
#include "rules/imports/block_bytes.hpp"
#include "rules/imports/block_key.hpp"
#include "rules/imports/outcome.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

enum class CoreField : std::uint8_t;
struct MemberFields;

inline constexpr std::uint32_t kBlockRows = 500;
inline constexpr std::size_t kMaxPartBytes = 4U << 20U;

// The block of a row number (1-based).
constexpr std::uint32_t block_of(std::uint32_t row_number) {
    return (row_number - 1) / kBlockRows;
}

// The index of a row in its block (0 to 499).
constexpr int index_in_block(std::uint32_t row_number) {
    return static_cast<int>((row_number - 1) % kBlockRows);
}

// A staged row of a block. The views refer to the block's bytes. The ids are assigned at staging,
// so that a commit that is repeated after a crash writes the same ids.
struct StagedRow {
    static constexpr std::size_t kTexts = 9;

    std::uint32_t row_number = 0;
    UserId user_id;
    MemberId member_id;
    std::array<std::string_view, kTexts> texts;  // CoreField's order, then attributes

    std::string_view text(CoreField field) const { return texts[static_cast<std::size_t>(field)]; }
    std::string_view email() const { return texts.front(); }
    // Of a malformed row with packed faults (rules/imports/row_faults.hpp).
    std::string_view attributes() const { return texts.back(); }
};

// What a row has before it is validated: invalid if it is malformed, otherwise staged. Throws
// CorruptBlock.
[[nodiscard]] RowOutcome outcome_before_validation(const StagedRow& row);

// A row with new ids. Its views refer to `fields`, which must outlive it.
StagedRow staged_row(std::uint32_t row_number, const MemberFields& fields);

// The number of bytes that append_row() adds.
[[nodiscard]] std::size_t encoded_size(const StagedRow& row);
void append_row(std::string& block, const StagedRow& row);
// The rows in the order in which they were written. Throws CorruptBlock.
[[nodiscard]] std::vector<StagedRow> decode_rows(std::string_view block);

// A block without the data of one person. Rows with exactly this address, and malformed rows with
// a core field that contains it, keep their place, number and ids but lose all texts. Other rows
// are unchanged.
struct Redaction {
    std::string block;
    int rows = 0;  // number of rows that lost their texts
};
// Throws CorruptBlock.
[[nodiscard]] Redaction redact_rows(std::string_view block, std::string_view email);

[[nodiscard]] std::string encode_outcomes(const std::vector<RowOutcome>& outcomes);
// `rows`: the number of rows of the block. Empty bytes mean that all are Staged. Throws
// CorruptBlock.
[[nodiscard]] std::vector<RowOutcome> decode_outcomes(std::string_view bytes, std::size_t rows);

struct RowCounts {
    int valid = 0;  // not yet committed
    int invalid = 0;
    int created = 0;
    int attached = 0;
    int merged = 0;
    int failed = 0;
    int removed = 0;
    int detached = 0;
    int emptied = 0;
    int kept = 0;
};
// Counts the rows by state; staged rows are not counted.
[[nodiscard]] RowCounts count_states(const std::vector<RowOutcome>& outcomes);

}  // namespace muster::rules
