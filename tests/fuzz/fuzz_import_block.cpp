// rules/imports/block.hpp: corrupt bytes are rejected as a CorruptBlock, or contain rows and
// outcomes that are equal after encoding and decoding them again; after an erasure, a person's rows
// keep only the number and the ids. The first byte: the number of outcomes.
#include "rules/imports/block.hpp"

#include "fuzz/fuzz.hpp"

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
        redacted += is_theirs ? 1 : 0;
        must(again[i].row_number == rows[i].row_number && again[i].user_id == rows[i].user_id);
        must(again[i].texts == (is_theirs ? rules::StagedRow{}.texts : rows[i].texts));
    }
    must(redaction.rows == redacted);
}

void read_outcomes(std::string_view bytes) {
    if (bytes.empty()) return;
    const std::size_t count = static_cast<unsigned char>(bytes.front());
    const auto written = rules::encode_outcomes(rules::decode_outcomes(bytes.substr(1), count));
    must(rules::encode_outcomes(rules::decode_outcomes(written, count)) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const auto read : {read_rows, redact, read_outcomes}) try {
            read(fuzz::text_of(data, size));
        } catch (const rules::CorruptBlock&) {  // as declared
        }
    return 0;
}
