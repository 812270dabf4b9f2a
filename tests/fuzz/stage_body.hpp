// The staging body for fuzz_stage_rows: its schema, the same as in api/imports/rows.cpp, and a
// printer.
#pragma once

#include "base/json.hpp"
#include "fuzz/fuzz.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/payload.hpp"
#include "service/imports/staging.hpp"

#include <string>
#include <vector>

namespace muster::fuzz {

struct StageBody {
    std::vector<service::NewRow> rows;
};

inline constexpr auto kStageRow = json::object<service::NewRow>(
    json::required("rowNumber", &service::NewRow::number, json::Integer{1, 2'147'483'647},
                   "The rowNumber."),
    json::required("payload", &service::NewRow::fields, rules::MemberPayload{}, "The payload."));
inline constexpr auto kStageBody = json::object<StageBody>(
    json::required("rows", &StageBody::rows,
                   json::array_of(kStageRow, 1, service::kMostStagedAtOnce), "The rows."));

inline std::string printed(const std::vector<service::NewRow>& rows) {
    std::string text;
    JsonWriter to(text);
    to.begin_object();
    to.key("rows");
    to.begin_array();
    for (const service::NewRow& row : rows) {
        to.begin_object();
        to.key("rowNumber");
        to.number(row.number);
        to.key("payload");
        to.begin_object();
        for (const auto& entry : rules::kCoreFields) {
            to.key(entry.name);
            to.string(row.fields.*entry.sent);
        }
        if (!row.fields.attributes.empty()) {
            to.key("attributes");
            to.raw(row.fields.attributes);
        }
        to.end_object();
        to.end_object();
    }
    to.end_array();
    to.end_object();
    return text;
}

}  // namespace muster::fuzz
