// rules/imports/block.hpp: corrupt bytes are rejected as a CorruptBlock, or contain rows and
// outcomes that are equal after encoding and decoding them again; after an erasure, a person's rows
// keep only the number and the ids. The first byte: the number of outcomes.
#include "rules/imports/block.hpp"

#include "fuzz/fuzz.hpp"
#include "rules/imports/row_faults.hpp"

using namespace muster;
using fuzz::must;

namespace {

void read_rows(std::string_view bytes) {
    const auto rows = rules::decode_rows(bytes);
    std::string written;
    for (const auto& row : rows) rules::append_row(written, row);
    const auto again = rules::decode_rows(written);
    must(again.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        must(again[i].row_number == rows[i].row_number && again[i].texts == rows[i].texts);
        must(again[i].user_id == rows[i].user_id && again[i].member_id == rows[i].member_id);
    }
}

// The person: that of the first row.
void redact(std::string_view bytes) {
    const auto rows = rules::decode_rows(bytes);
    if (rows.empty()) return;
    const std::string_view email = rows.front().email();
    const auto redaction = rules::redact_rows(bytes, email);
    const auto again = rules::decode_rows(redaction.block);
    must(again.size() == rows.size());
    int redacted = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool is_theirs = rows[i].email() == email;
        const bool may_be_theirs = is_theirs || rules::holds_faults(rows[i].attributes());
        const bool is_redacted = again[i].texts == rules::StagedRow{}.texts;
        redacted += is_redacted ? 1 : 0;
        must(again[i].row_number == rows[i].row_number && again[i].user_id == rows[i].user_id);
        must(is_redacted || again[i].texts == rows[i].texts);
        must(is_redacted ? may_be_theirs || rows[i].texts == again[i].texts : !is_theirs);
    }
    must(redaction.rows <= redacted);
}

// Faults are rejected, or equal after packing them again.
void read_faults(std::string_view bytes) {
    for (const auto& row : rules::decode_rows(bytes)) {
        const auto kept = rules::unpack_faults(row.attributes());
        must(kept.faults.size() <= rules::kMostRowFaults);
        if (!rules::holds_faults(row.attributes())) continue;
        const std::string packed = rules::pack_faults(kept.faults, kept.attributes);
        const auto again = rules::unpack_faults(packed);
        must(again.faults.size() == kept.faults.size() && again.attributes == kept.attributes);
        must(rules::outcome_before_validation(row).state == rules::RowState::Invalid);
    }
}

void read_outcomes(std::string_view bytes) {
    if (bytes.empty()) return;
    const std::size_t count = static_cast<unsigned char>(bytes.front());
    const auto written = rules::encode_outcomes(rules::decode_outcomes(bytes.substr(1), count));
    must(rules::encode_outcomes(rules::decode_outcomes(written, count)) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const auto read : {read_rows, redact, read_faults, read_outcomes}) try {
            read(fuzz::text_of(data, size));
        } catch (const rules::CorruptBlock&) {  // as declared
        }
    return 0;
}
