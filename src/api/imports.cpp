// Serves /v1/imports…: bulk member imports (specification 4.1, docs/api.md "Imports"). The
// decisions are in service/imports/jobs.cpp, what the runner does in its dry_run.cpp and
// commit.cpp.
#include "service/imports/jobs.hpp"

#include "api/groups.hpp"
#include "base/text.hpp"
#include "rules/imports/mapping.hpp"
#include "rules/members/payload.hpp"
#include "service/imports/rows.hpp"

namespace muster {

template <>
struct JsonType<rules::ImportFailure> {
    static constexpr auto kRecord =
        record<rules::ImportFailure>("ImportFailure", field<&rules::ImportFailure::code>("code"),
                                     field<&rules::ImportFailure::message>("message"));
    static void write(JsonWriter& to, const rules::ImportFailure& value) {
        kRecord.write(to, value);
    }
    static Json::Value schema() { return kRecord.schema(); }
};

template <>
struct JsonType<rules::ImportPreview> {
    static constexpr auto kRecord = record<rules::ImportPreview>(
        "ImportPreview", field<&rules::ImportPreview::create>("create"),
        field<&rules::ImportPreview::attach>("attach"),
        field<&rules::ImportPreview::merge>("merge"));
    static void write(JsonWriter& to, const rules::ImportPreview& value) {
        kRecord.write(to, value);
    }
    static Json::Value schema() { return kRecord.schema(); }
};

}  // namespace muster

namespace muster::api {
namespace {

using http::Method;
using json::Integer;
using json::Text;
using rules::ImportJob;
using rules::ImportRow;
using service::OrgTransaction;

constexpr std::int64_t kHighestRowNumber = 2'147'483'647;

// ---------------------------------------------------------------------------- bodies

constexpr auto kMappingColumn = json::object<rules::MappingColumn>(
    json::required("sourceColumn", &rules::MappingColumn::source_column, Text{1, 255}),
    json::required("target", &rules::MappingColumn::target, Text{1, 64}),
    json::optional("fieldKey", &rules::MappingColumn::field_key, Text{1, 64}),
    json::optional("attributeKey", &rules::MappingColumn::attribute_key, Text{1, 64}));

constexpr auto kMapping = json::object<rules::Mapping>(
    json::required("columns", &rules::Mapping::columns, json::array_of(kMappingColumn, 1, 500)));

constexpr auto kNewImport = json::object<service::NewImport>(
    json::required("file_name", &service::NewImport::file_name, Text{1, 255}),
    json::required("declared_total", &service::NewImport::declared_total,
                   Integer{0, service::kMostImportRows}),
    json::required("mapping", &service::NewImport::mapping, kMapping));

constexpr auto kNewRow = json::object<service::NewRow>(
    json::required("rowNumber", &service::NewRow::number, Integer{1, kHighestRowNumber}),
    json::required("payload", &service::NewRow::fields, rules::MemberPayload{}));

struct StageRows {
    std::vector<service::NewRow> rows;
};
constexpr auto kStageRows = json::object<StageRows>(json::required(
    "rows", &StageRows::rows, json::array_of(kNewRow, 0, service::kMostStagedAtOnce)));

struct CommitImport {
    std::optional<bool> dry_run;
};
constexpr auto kCommitImport =
    json::object<CommitImport>(json::optional("dry_run", &CommitImport::dry_run, json::Boolean{}));

constexpr std::string_view kNewImportExample = R"({
  "file_name": "members.csv",
  "declared_total": 2,
  "mapping": {"columns": [
    {"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"},
    {"sourceColumn": "Size", "target": "attribute", "attributeKey": "shirt_size"},
    {"sourceColumn": "Notes", "target": "ignored"}]}})";

constexpr std::string_view kStageRowsExample = R"({
  "rows": [
    {"rowNumber": 1, "payload": {"email": "ada@example.org", "country": "GB", "dob": "1985-12-10"}},
    {"rowNumber": 2, "payload": {"email": "bob@example.org", "attributes": {"shirt_size": "M"}}}]})";

// ---------------------------------------------------------------------------- replies

constexpr auto kImportJob = record<ImportJob>(
    "ImportJob", field<&ImportJob::id>("id"), field<&ImportJob::organization_id>("organization_id"),
    field<&ImportJob::created_by_id>("created_by_id"), field<&ImportJob::source>("source"),
    field<&ImportJob::state>("state"),
    RecordField<ImportJob>{"mapping",
                           [](JsonWriter& to, const ImportJob& job) { to.raw(job.mapping); },
                           schema_of<kMapping>},
    field<&ImportJob::file_name>("file_name"), field<&ImportJob::declared_total>("declared_total"),
    field<&ImportJob::staged_rows>("staged_rows"),
    field<&ImportJob::processed_rows>("processed_rows"),
    field<&ImportJob::valid_rows>("valid_rows"), field<&ImportJob::invalid_rows>("invalid_rows"),
    field<&ImportJob::created_count>("created_count"),
    field<&ImportJob::attached_count>("attached_count"),
    field<&ImportJob::failed_count>("failed_count"), field<&ImportJob::failure>("failure"),
    field<&ImportJob::preview>("preview"), field<&ImportJob::heartbeat_at>("heartbeat_at"),
    field<&ImportJob::completed_at>("completed_at"), field<&ImportJob::expires_at>("expires_at"),
    field<&ImportJob::created_at>("created_at"), field<&ImportJob::updated_at>("updated_at"));

void write_error_code(JsonWriter& to, const ImportRow& row) {
    row.error == rules::RowError::None ? to.null() : to.string(text_of(row.error));
}

void write_error_message(JsonWriter& to, const ImportRow& row) {
    row.error == rules::RowError::None
        ? to.null()
        : to.string(rules::row_error_message(row.error, row.error_key));
}

constexpr auto kImportRow = record<ImportRow>(
    "ImportRow", field<&ImportRow::id>("id"), field<&ImportRow::job_id>("job_id"),
    field<&ImportRow::row_number>("row_number"), field<&ImportRow::state>("state"),
    RecordField<ImportRow>{"error_code", write_error_code,
                           JsonType<std::optional<std::string>>::schema},
    RecordField<ImportRow>{"error_message", write_error_message,
                           JsonType<std::optional<std::string>>::schema},
    field<&ImportRow::user_id>("user_id"),
    RecordField<ImportRow>{"payload",
                           [](JsonWriter& to, const ImportRow& row) { to.raw(row.payload); },
                           JsonType<RawJson>::schema},
    field<&ImportRow::created_at>("created_at"), field<&ImportRow::updated_at>("updated_at"));

struct Staged {
    std::int64_t staged = 0;
};
constexpr auto kStaged = record<Staged>("StagedRows", field<&Staged::staged>("staged"));

constexpr auto kImportList = list_of<kImportJob>("ImportList", "imports");
constexpr auto kImportRowList = list_of<kImportRow>("ImportRowList", "rows");

// ---------------------------------------------------------------------------- handlers

auto create_import(Call&, OrgTransaction& transaction, const service::NewImport& in) {
    auto job = service::create_import(transaction, in);
    return Answer{job, "/v1/imports/" + job.id.text(), job.expires_at};
}

auto list_imports(Call& call) {
    const auto before = call.cursor_id<ImportId>();
    const auto state = call.query.text("state");
    const int limit = call.query.integer("limit");
    auto jobs = service::list_imports(call.context, call.org(), before,
                                      state ? parse<rules::ImportState>(*state) : std::nullopt, limit);
    return page_of(call, std::move(jobs));
}

// The job, with the hint when to look again.
Answer<ImportJob> polled(ImportJob job) {
    const bool is_moving = rules::is_moving(job.state);
    const auto expires_at = job.expires_at;
    Answer answer{std::move(job), "", expires_at};
    if (is_moving) answer.headers.emplace_back("Retry-After", "1");
    return answer;
}

auto get_import(Call& call) {
    auto job = service::poll_import(call.context, call.actor(), call.id<ImportId>());
    if (!job) throw Error(ErrorCode::NotFound);
    return polled(std::move(*job));
}

auto stage_rows(Call& call, OrgTransaction& transaction, const StageRows& in) {
    service::stage_rows(transaction, call.id<ImportId>(), in.rows);
    return Staged{static_cast<std::int64_t>(in.rows.size())};
}

auto validate_import(Call& call, OrgTransaction& transaction, Nothing) {
    return polled(service::validate_import(transaction, call.id<ImportId>()));
}

auto commit_import(Call& call, OrgTransaction& transaction, CommitImport in) {
    return polled(service::commit_import(transaction, call.id<ImportId>(), in.dry_run));
}

// A replay shows the moment when the job began to move.
template <auto kNext>
struct Moving {
    static constexpr ReplyShape kShape = kNext.kShape;

    template <class Body>
    http::Reply operator()(Call& call, const Body& body) const {
        http::Reply reply = kNext(call, body);
        if (is_replayed(reply)) reply.headers.emplace_back("Retry-After", "1");
        return reply;
    }
};
template <auto kNext>
inline constexpr Moving<kNext> moving;

auto cancel_import(Call& call, OrgTransaction& transaction, Nothing) {
    auto job = service::cancel_import(transaction, call.id<ImportId>());
    return Answer{job, "", job.expires_at};
}

auto list_import_rows(Call& call) {
    const auto position = call.cursor_position();
    const auto after = position ? parse_number<std::uint32_t>(*position).value_or(0) : 0;
    const auto state = call.query.text("state");
    auto page = service::list_import_rows(call.context, call.org(), call.id<ImportId>(), after,
                                          state ? parse<rules::RowState>(*state) : std::nullopt,
                                          call.query.integer("limit"));
    if (!page) throw Error(ErrorCode::NotFound);
    const auto next =
        page->has_more ? std::optional(std::to_string(page->rows.back().row_number)) : std::nullopt;
    return page_of(call, std::move(page->rows), next);
}

constexpr char kCsv[] = "text/csv; charset=utf-8";

Stream get_error_report(Call& call) {
    const auto id = call.id<ImportId>();
    if (!service::read_import(call.context, call.org(), id)) throw Error(ErrorCode::NotFound);
    return {.headers = {{"Content-Disposition",
                         "attachment; filename=\"import-" + id.text() + "-errors.csv\""}},
            .write = [&context = call.context, org = call.org(), id,
                      raw = call.query.flag("raw")](const http::Sink& sink) {
                service::write_error_report(context, org, id, raw, sink);
            }};
}

// ---------------------------------------------------------------------------- rows

using Kind = QueryParameter::Kind;

constexpr std::array kListQuery = {
    page_limit("Jobs a page."),
    kPageCursor,
    QueryParameter{.name = "state",
                   .choice = name_at<rules::ImportState>,
                   .meaning = "Only jobs in this state."},
};
constexpr std::array kRowsQuery = {
    page_limit("Rows a page.", 1000, 100),
    kPageCursor,
    QueryParameter{
        .name = "state", .choice = name_at<rules::RowState>, .meaning = "Only rows in this state."},
};
constexpr std::array kReportQuery = {
    QueryParameter{.name = "raw",
                   .kind = Kind::Flag,
                   .meaning = "true: cells exactly as staged, without the guard against formulas."},
};

constexpr std::array kCreateErrors = {ErrorCode::ImportJobActiveExists,
                                      ErrorCode::ImportMappingInvalid};
constexpr std::array kStageErrors = {ErrorCode::ImportJobInvalidState,
                                     ErrorCode::ImportRowLimitExceeded};
constexpr std::array kMoveErrors = {ErrorCode::ImportJobInvalidState};

constexpr std::array kEndpoints = {
    Endpoint{.method = Method::Post,
             .path = "/v1/imports",
             .operation = "createImport",
             .summary = "Create an import job",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_required = true,
             .body_component = "NewImport",
             .body_schema = schema_of<kNewImport>,
             .body_example = kNewImportExample,
             .reply = {201, "The job, in state staging."},
             .errors = kCreateErrors,
             .handler = decoded<kNewImport, answers<kImportJob, create_import>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/imports",
             .operation = "listImports",
             .summary = "List import jobs, newest first",
             .query = kListQuery,
             .reply = {200, "A page of jobs."},
             .handler = answers<kImportList, list_imports>},
    Endpoint{.method = Method::Get,
             .path = "/v1/imports/{id}",
             .operation = "getImport",
             .summary = "Read an import job with its counts",
             .reply = {200, "The job."},
             .handler = answers<kImportJob, get_import>},
    Endpoint{.method = Method::Post,
             .path = "/v1/imports/{id}/rows",
             .operation = "stageImportRows",
             .summary = "Stage up to 5,000 rows; all of them or none",
             .role = rules::Role::Admin,
             .body_limit = kStagingBody,
             .body_required = true,
             .body_component = "StageRows",
             .body_schema = schema_of<kStageRows>,
             .body_example = kStageRowsExample,
             .reply = {200, "How many rows the call staged."},
             .errors = kStageErrors,
             .handler = decoded<kStageRows, answers<kStaged, stage_rows>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/imports/{id}/rows",
             .operation = "listImportRows",
             .summary = "List an import job's rows and what became of them",
             .query = kRowsQuery,
             .reply = {200, "A page of rows."},
             .handler = answers<kImportRowList, list_import_rows>},
    Endpoint{.method = Method::Post,
             .path = "/v1/imports/{id}/validate",
             .operation = "validateImport",
             .summary = "Seal the staging and start the dry run",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = {202, "The job, in state validating."},
             .errors = kMoveErrors,
             .handler = decoded<kNothing, moving<answers<kImportJob, validate_import>>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/imports/{id}/commit",
             .operation = "commitImport",
             .summary = "Write the valid rows",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .body_component = "CommitImport",
             .body_schema = schema_of<kCommitImport>,
             .body_example = R"({"dry_run": false})",
             .reply = {202, "The job, on its way."},
             .errors = kMoveErrors,
             .handler = decoded<kCommitImport, moving<answers<kImportJob, commit_import>>>},
    Endpoint{.method = Method::Post,
             .path = "/v1/imports/{id}/cancel",
             .operation = "cancelImport",
             .summary = "Cancel a job that has not begun to commit",
             .role = rules::Role::Admin,
             .idempotency = IdempotencyKey::Accepted,
             .body_limit = kSmallBody,
             .reply = {200, "The job, in state canceled."},
             .errors = kMoveErrors,
             .handler = decoded<kNothing, answers<kImportJob, cancel_import>>},
    Endpoint{.method = Method::Get,
             .path = "/v1/imports/{id}/error-report",
             .operation = "getImportErrorReport",
             .summary = "Download the invalid and failed rows as CSV",
             .query = kReportQuery,
             .reply = {200, "RFC 4180, header line first."},
             .handler = sends<kCsv, get_error_report>},
};
static_assert(well_formed(kEndpoints, "/v1/imports"));

}  // namespace

std::span<const Endpoint> import_endpoints() {
    return kEndpoints;
}

}  // namespace muster::api
