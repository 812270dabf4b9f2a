// The body of POST /v1/imports/{id}/rows, as json/schema.hpp decodes it: rejected with named
// faults, or normalized rows that do not change when they are sent again.
#include "base/error.hpp"
#include "fuzz/stage_body.hpp"
#include "json/json_body.hpp"
#include "rules/imports/block.hpp"

using namespace muster;
using fuzz::must;

namespace {

std::optional<std::vector<service::NewRow>> read(std::string_view text) {
    try {
        const json::JsonBody body(text);
        return json::decode(fuzz::kStageBody, body.root(), *Date::parse("2026-11-20")).rows;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::BadRequest) return std::nullopt;
        must(error.code() == ErrorCode::ValidationError);
        const Json::Value details = error.details();
        must(!details["fields"].empty() && details["fields"].size() <= Faults::kMost);
        return std::nullopt;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto rows = read(fuzz::text_of(data, size));
    if (!rows) return 0;
    const auto again = read(fuzz::printed(*rows)).value();
    must(again.size() == rows->size());
    for (std::size_t i = 0; i < rows->size(); ++i) {
        const service::NewRow& row = (*rows)[i];
        must(again[i].number == row.number && again[i].fields == row.fields);
        std::string block;
        rules::append_row(block, rules::staged_row(1, row.fields));
        must(rules::decode_rows(block).at(0).attributes() == row.fields.attributes);
    }
    return 0;
}
