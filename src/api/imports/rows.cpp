// Serves /v1/imports/{id}/rows and …/error-report: the rows of an import (docs/api/imports.md
// "Imports"). service/imports/staging.cpp and rows.cpp implement the calls.
#include "service/imports/rows.hpp"

#include "api/groups.hpp"
#include "api/long_answer.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "rules/access/roles.hpp"
#include "rules/imports/job_record.hpp"
#include "rules/imports/kept_payload.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/members/core_fields.hpp"
#include "rules/members/payload.hpp"
#include "service/imports/jobs.hpp"
#include "service/imports/staging.hpp"

#include <algorithm>

namespace muster::api {
namespace {

using http::Method;
using json::Integer;
using rules::ImportRow;
using service::OrgTransaction;

constexpr int kHighestRowNumber = 2'147'483'647;

// ---------------------------------------------------------------------------- bodies

constexpr auto kNewRow =
    json::object<service::NewRow>(
        json::required(
            "rowNumber", &service::NewRow::number, Integer{1, kHighestRowNumber},
            "Number of the row in the file, unique in a call. A row replaces the staged row with "
            "the same number."),
        json::required("payload", &service::NewRow::fields, rules::MemberPayload{},
                       "The member's data."))
        .named("NewImportRow");

struct StageRows {
    std::vector<service::NewRow> rows;
};
constexpr auto kStageRows = json::object<StageRows>(
    json::required("rows", &StageRows::rows, json::array_of(kNewRow, 0, service::kMostStagedAtOnce),
                   "Rows to stage. If one row is malformed, no row is staged, except with faults "
                   "keep."));

// With faults=keep. The number and the form of a row are as strict.
constexpr auto kRowToKeep = json::object<service::NewRow>(
    json::required("rowNumber", &service::NewRow::number, Integer{1, kHighestRowNumber},
                   "Number of the row in the file."),
    json::required("payload", &service::NewRow::fields, rules::KeptPayload{},
                   "The member's data, which may be malformed."));
constexpr auto kRowsToKeep = json::object<StageRows>(
    json::required("rows", &StageRows::rows,
                   json::array_of(kRowToKeep, 0, service::kMostStagedAtOnce), "Rows to stage."));

constexpr std::string_view kStageRowsExample = R"({
  "rows": [
    {"rowNumber": 1, "payload": {"email": "ada@example.org", "country": "GB", "dob": "1985-12-10"}},
    {"rowNumber": 2, "payload": {"email": "bob@example.org", "attributes": {"shirt_size": "M"}}}]})";

// ---------------------------------------------------------------------------- replies

// Like the payload of requests, but without limits: replies may contain more fields.
Json::Value staged_payload_schema() {
    Json::Value schema = rules::MemberPayload{}.schema();
    schema["title"] = "StagedPayload";
    for (const char* limit : {"additionalProperties", "required"}) schema.removeMember(limit);
    // A row without an email address is staged too; the dry run reports it.
    Json::Value& email = schema["properties"]["email"];
    email = or_null(email);
    // A malformed row is shown with its invalid values, after trimming and case folding.
    for (const auto& field : rules::kCoreFields) {
        Json::Value& property = schema["properties"][std::string(field.name)];
        for (const char* limit : {"maxLength", "format"}) property.removeMember(limit);
    }
    return schema;
}

// The error codes of rows.
Json::Value error_code_schema() {
    return or_null(rules::row_error_schema());
}

void write_error_code(JsonWriter& to, const ImportRow& row) {
    row.error == rules::RowError::None ? to.null() : to.string(text_of(row.error));
}

void write_error_message(JsonWriter& to, const ImportRow& row) {
    row.error == rules::RowError::None ? to.null() : to.string(row.error_message);
}

constexpr auto kImportRow = record<ImportRow>(
    "ImportRow", field<&ImportRow::id>("id", "Id of the record."),
    field<&ImportRow::job_id>("job_id", "Id of the import job."),
    field<&ImportRow::row_number>("row_number", "Number of the row in the file."),
    field<&ImportRow::state>("state", "Current result for the row."),
    RecordField<ImportRow>{"error_code",
                           "Reason why the row is invalid, failed or kept; null for other rows.",
                           write_error_code, error_code_schema},
    RecordField<ImportRow>{"error_message", "Description of the error; null for other rows.",
                           write_error_message, JsonType<std::optional<std::string>>::schema},
    field<&ImportRow::faults>(
        "fields",
        "Faults of a malformed row that was kept with faults keep, up to 10; empty for other "
        "rows."),
    field<&ImportRow::user_id>(
        "user_id", "Id of the user that the row created or changed; null before the commit."),
    RecordField<ImportRow>{"payload", "The member's data as staged.",
                           [](JsonWriter& to, const ImportRow& row) { to.raw(row.payload); },
                           staged_payload_schema},
    field<&ImportRow::created_at>(
        "created_at", "Time when rows of its block of 500 row numbers were last staged."),
    field<&ImportRow::updated_at>(
        "updated_at", "Time when its block was last staged, validated, committed or undone."));

struct Staged {
    std::int64_t staged = 0;
    std::optional<std::int64_t> invalid;  // nullopt: malformed rows were not allowed
};
struct StagedShape {
    std::string_view name = "StagedRows";

    void write(JsonWriter& to, const Staged& staged) const {
        to.begin_object();
        to.key("staged");
        to.number(staged.staged);
        if (staged.invalid) {
            to.key("invalid");
            to.number(*staged.invalid);
        }
        to.end_object();
    }
    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("object");
        schema["properties"]["staged"] =
            described(JsonType<std::int64_t>::schema(), "Number of rows in this call.", "2");
        schema["properties"]["invalid"] =
            described(JsonType<std::int64_t>::schema(),
                      "Number of these rows that are malformed; only with faults keep.", "0");
        schema["required"].append("staged");
        return schema;
    }
};
constexpr StagedShape kStaged;

constexpr auto kImportRowList = list_of<kImportRow>("ImportRowList", "rows");

// ---------------------------------------------------------------------------- handlers

bool keeps_faults(const Call& call) {
    return call.query.text("faults") == "keep";
}

auto stage_rows(Call& call, OrgTransaction& transaction, const StageRows& in) {
    service::stage_rows(transaction, call.context.settings.limits, call.id<ImportId>(), in.rows);
    Staged staged{static_cast<std::int64_t>(in.rows.size()), {}};
    if (keeps_faults(call)) {
        staged.invalid = std::count_if(in.rows.begin(), in.rows.end(), [](const auto& row) {
            return rules::holds_faults(row.fields.attributes);
        });
    }
    return staged;
}

// Decodes malformed rows only if the query allows them.
struct StagesRows {
    static constexpr ReplyShape kShape = json_shape<kStaged>;

    http::Reply operator()(Call& call) const {
        return keeps_faults(call) ? decoded<kRowsToKeep, answers<kStaged, stage_rows>>(call)
                                  : decoded<kStageRows, answers<kStaged, stage_rows>>(call);
    }
};
constexpr StagesRows kStagesRows;

auto list_import_rows(Call& call) {
    const auto position = call.cursor_position();
    const auto after = position ? parse_number<std::uint32_t>(*position).value_or(0) : 0;
    service::RowFilter filter;
    for (const std::string& state : call.query.list("state")) {
        filter.states.push_back(*parse<rules::RowState>(state));
    }
    if (const auto error = call.query.text("error_code")) {
        filter.error = parse<rules::RowError>(*error);
    }
    auto page = service::list_import_rows(call.context, call.org(), call.id<ImportId>(), after,
                                          filter, call.query.integer("limit"));
    if (!page) throw Error(ErrorCode::NotFound);
    const auto next = page->next ? std::optional(std::to_string(*page->next)) : std::nullopt;
    return page_of(call, std::move(page->rows), next);
}

constexpr char kCsv[] = "text/csv; charset=utf-8";

Stream get_error_report(Call& call) {
    const auto id = call.id<ImportId>();
    if (!service::read_import(call.context, call.org(), id)) throw Error(ErrorCode::NotFound);
    LongAnswer answer(call);
    const service::ReportPage page{.after = call.query.integer("after"),
                                   .raw = call.query.flag("raw")};
    const auto next =
        service::write_error_report(call.context, call.org(), id, page, answer.sink());
    if (next) answer.add_header("X-Next-After", std::to_string(*next));
    return std::move(answer).as_file("import-" + id.text() + "-errors.csv");
}

// ---------------------------------------------------------------------------- rows

using Kind = QueryParameter::Kind;

// The first name is that of rows without an error.
std::string_view error_code_at(std::size_t index) {
    return name_at<rules::RowError>(index + 1);
}

constexpr std::array kRowsQuery = {
    page_limit(1000, 100),
    kPageCursor,
    QueryParameter{.name = "state",
                   .choice = name_at<rules::RowState>,
                   .is_list = true,
                   .meaning = "Only rows in one of these states, separated by commas."},
    QueryParameter{
        .name = "error_code", .choice = error_code_at, .meaning = "Only rows with this error."},
};
std::string_view faults_choice(std::size_t index) {
    constexpr std::array<std::string_view, 2> kChoices = {"reject", "keep"};
    return index < kChoices.size() ? kChoices.at(index) : "";
}

constexpr std::array kStageQuery = {
    QueryParameter{.name = "faults",
                   .choice = faults_choice,
                   .meaning = "keep: a malformed row is kept as invalid. reject, the default: a "
                              "malformed row rejects the call."},
};
constexpr std::array kReportQuery = {
    QueryParameter{.name = "after",
                   .kind = Kind::Integer,
                   .most = kHighestRowNumber,
                   .meaning = "Only rows with a number above this; X-Next-After of the previous "
                              "answer."},
    QueryParameter{.name = "raw",
                   .kind = Kind::Flag,
                   .meaning = "true: cells exactly as staged, without the guard against formulas."},
};

constexpr std::array kStageErrors = {ErrorCode::ImportJobInvalidState,
                                     ErrorCode::ImportRowLimitExceeded};

constexpr std::array kImportRowEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/rows",
        .operation = "stageImportRows",
        .summary = "Stage up to 5,000 rows, all or none",
        .description =
            "Stages up to 5,000 rows of a job in state staging. With faults keep, malformed rows are kept as invalid, so payloads may violate "
            "this schema. A call rewrites up to 24 MiB and 100,000 rows of stored blocks of 500 "
            "numbers; rows with consecutive numbers fit, unless their values grow when they are "
            "stored. A row replaces the staged row with its number, so a call can be "
            "repeated. A job holds up to 250,000 rows; the body has at most 1,000,000 array entries "
            "and object members, and may be gzip, where its limit holds before and after "
            "decompression.",
        .role = rules::Role::Admin,
        .body_limit = kStagingBody,
        .body_required = true,
        .accepts_gzip = true,
        .body_component = "StageRows",
        .body_schema = schema_of<kStageRows>,
        .body_example = kStageRowsExample,
        .query = kStageQuery,
        .reply = {200, "The number of rows in this call."},
        .errors = kStageErrors,
        .handler = kStagesRows},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/imports/{id}/rows",
        .operation = "listImportRows",
        .summary = "List an import job's rows with their results",
        .description =
            "Lists the rows of a job with their states, by row number. It works in every state of "
            "the job. state selects several states, error_code one error. A page may be shorter "
            "than limit, or empty; continue until next_cursor is null.",
        .query = kRowsQuery,
        .reply = {200, "A page of rows."},
        .handler = answers<kImportRowList, list_import_rows>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/imports/{id}/error-report",
        .operation = "getImportErrorReport",
        .summary = "Download the invalid, failed and kept rows as CSV",
        .description =
            "Returns the invalid, failed and kept rows as CSV, with the reason for each. Fix them and "
            "import the file again. An answer ends at 32 MiB; if it has X-Next-After, more rows "
            "follow. Cells that a spreadsheet could run as formulas are guarded, unless raw is "
            "true. An organization gets one export or report at a time.",
        .query = kReportQuery,
        .reply = with_next_after({200, "CSV (RFC 4180) with a header line."}),
        .handler = sends<kCsv, get_error_report>},
};
static_assert(well_formed(kImportRowEndpoints, "/v1/imports"));

}  // namespace

std::span<const Endpoint> import_row_endpoints() {
    return kImportRowEndpoints;
}

}  // namespace muster::api
