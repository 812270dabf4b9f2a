// Serves /v1/imports…: the jobs of bulk member imports (specification 4.1, docs/api/imports.md
// "Imports"). service/imports/jobs.cpp implements the calls; dry_run.cpp and commit.cpp there
// implement the runner's steps. rows.cpp here serves the rows.
#include "service/imports/jobs.hpp"

#include "api/groups.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "rules/access/roles.hpp"
#include "rules/imports/job_record.hpp"
#include "rules/imports/mapping.hpp"
#include "rules/members/core_fields.hpp"
#include "service/imports/undo.hpp"

#include <type_traits>

namespace muster::api {
namespace {

using http::Method;
using json::Integer;
using json::Text;
using rules::ImportJob;
using service::OrgTransaction;

// ---------------------------------------------------------------------------- bodies

Json::Value target_schema() {
    return one_of({"core_field", "attribute", "ignored"});
}
Json::Value field_key_schema() {
    Json::Value schema = one_of({});
    for (const auto& field : rules::kCoreFields) schema["enum"].append(std::string(field.name));
    return schema;
}

// Describes a column. rules/imports/mapping.hpp validates it, with its own error code.
constexpr auto kMappingColumn = json::object<rules::MappingColumn>(
    json::required("sourceColumn", &rules::MappingColumn::source_column, Text{1, 255},
                   "Name of the column in the file, without duplicates.", "Email"),
    json::required("target", &rules::MappingColumn::target,
                   json::DescribedAs<Text>{{1, 64}, target_schema},
                   "Destination of the column: a core field, an attribute, or none."),
    json::optional("fieldKey", &rules::MappingColumn::field_key,
                   json::DescribedAs<Text>{{1, 64}, field_key_schema},
                   "Core field that the column fills; only for core_field."),
    json::optional("attributeKey", &rules::MappingColumn::attribute_key, Text{1, 64},
                   "Key of the enabled attribute that the column fills; only for attribute.",
                   "shirt_size"));
Json::Value mapping_column_schema() {
    return kMappingColumn.schema();
}

// A text of a column, trimmed. `if_empty` stands for an empty one, because an absent text is "".
struct ColumnText {
    std::string_view if_empty = {};
    void decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                std::string& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        out = trimmed(*text);
        if (out.empty()) out = if_empty;
    }
};
// No field and no attribute has this key.
constexpr ColumnText kColumnKey{" "};

// Checks only the JSON types, and that there are no other fields.
constexpr auto kSentColumn = json::object<rules::MappingColumn>(
    json::optional("sourceColumn", &rules::MappingColumn::source_column, ColumnText{}, ""),
    json::optional("target", &rules::MappingColumn::target, ColumnText{}, ""),
    json::optional("fieldKey", &rules::MappingColumn::field_key, kColumnKey, ""),
    json::optional("attributeKey", &rules::MappingColumn::attribute_key, kColumnKey, ""));
constexpr json::DescribedAs<std::remove_const_t<decltype(kSentColumn)>> kColumn{
    kSentColumn, mapping_column_schema};

constexpr auto kMapping =
    json::object<rules::Mapping>(
        json::required("columns", &rules::Mapping::columns, json::array_of(kColumn, 1, 500),
                       "One entry for each column of the file. One column must fill email."))
        .named("ImportMapping");

constexpr auto kNewImport = json::object<service::NewImport>(
    json::required("file_name", &service::NewImport::file_name, Text{1, 255},
                   "Name of the imported file.", "members.csv"),
    json::required("declared_total", &service::NewImport::declared_total,
                   Integer{0, service::kMostImportRows},
                   "Number of rows in the file. It is shown to people and not checked."),
    json::required(
        "mapping", &service::NewImport::mapping, kMapping,
        "Documents how the columns of the file were mapped. It does not transform rows."));

struct CommitImport {
    std::optional<bool> dry_run;
};
constexpr auto kCommitImport = json::object<CommitImport>(json::optional(
    "dry_run", &CommitImport::dry_run, json::Boolean{},
    "false: commit a staging job too, after the dry run. true: change nothing. If omitted: commit a "
    "validated job."));

struct UndoImport {
    std::optional<bool> dry_run;
};
constexpr auto kUndoImport = json::object<UndoImport>(json::optional(
    "dry_run", &UndoImport::dry_run, json::Boolean{},
    "true: change nothing, and return the counts of an undo at this moment. Default: false."));

constexpr std::string_view kNewImportExample = R"({
  "file_name": "members.csv",
  "declared_total": 2,
  "mapping": {"columns": [
    {"sourceColumn": "Email", "target": "core_field", "fieldKey": "email"},
    {"sourceColumn": "Size", "target": "attribute", "attributeKey": "shirt_size"},
    {"sourceColumn": "Notes", "target": "ignored"}]}})";

// ---------------------------------------------------------------------------- replies

// Like kMapping, but without limits: replies may contain more fields.
Json::Value kept_mapping_schema() {
    Json::Value schema = kMapping.schema();
    schema["title"] = "KeptImportMapping";
    schema.removeMember("additionalProperties");
    schema["properties"]["columns"]["items"].removeMember("additionalProperties");
    return schema;
}
constexpr auto kImportJob = record<ImportJob>(
    "ImportJob", field<&ImportJob::id>("id", "Id of the record."),
    field<&ImportJob::organization_id>("organization_id",
                                       "Id of the organization that the record belongs to."),
    field<&ImportJob::created_by_id>(
        "created_by_id", "Id of the admin who created the job; null for a job of an API key."),
    field<&ImportJob::created_by_email>("created_by_email",
                                        "Email address of that admin; null if there is none.",
                                        "ada@example.org"),
    field<&ImportJob::source>("source",
                              "api: created with an API key; console: created by an admin."),
    field<&ImportJob::state>(
        "state",
        "Current step of the job. staging, validating, validated, committing and undoing are active."),
    RecordField<ImportJob>{"mapping", "The mapping that was sent.",
                           [](JsonWriter& to, const ImportJob& job) { to.raw(job.mapping); },
                           kept_mapping_schema},
    field<&ImportJob::file_name>("file_name", "Name of the imported file.", "members.csv"),
    field<&ImportJob::declared_total>("declared_total",
                                      "declared_total of the request that created the job."),
    field<&ImportJob::staged_rows>("staged_rows", "Number of distinct row numbers staged."),
    field<&ImportJob::processed_rows>(
        "processed_rows", "Number of rows that the current step has finished, up to staged_rows."),
    field<&ImportJob::valid_rows>("valid_rows", "Number of rows that the dry run found valid."),
    field<&ImportJob::invalid_rows>("invalid_rows",
                                    "Number of rows that the dry run found invalid."),
    field<&ImportJob::created_count>("created_count", "Number of rows in state created."),
    field<&ImportJob::attached_count>("attached_count",
                                      "Number of rows in state attached or merged."),
    field<&ImportJob::failed_count>("failed_count", "Number of rows in state failed."),
    field<&ImportJob::failure>("failure", "Reason why the job failed; null in other states."),
    field<&ImportJob::preview>(
        "preview", "Predicted result of a commit at the end of the dry run; null before."),
    field<&ImportJob::undo>(
        "undo",
        "Numbers of rows that the undo took back or kept; null for a job that "
        "was not undone. In the reply to a dry run of the undo: the prediction."),
    field<&ImportJob::errors>(
        "errors",
        "Number of invalid and failed rows by error and field, the most frequent first; after an "
        "undo also of the kept rows. Up to 20 fields of an error are distinguished; the rows of "
        "further fields have field null."),
    field<&ImportJob::phase_started_at>(
        "phase_started_at",
        "Time when the job entered its state; null if it did before the upgrade that added this field."),
    field<&ImportJob::queue_position>(
        "queue_position",
        "0: the runner works on the job. From 1: place among the jobs that wait for the runner, up "
        "to 100. null if the job does not need the runner."),
    field<&ImportJob::heartbeat_at>(
        "heartbeat_at", "Time when the runner last worked on the job; null if it has not started."),
    field<&ImportJob::completed_at>(
        "completed_at",
        "Time when the job was completed, failed, was canceled or undone; null while it is active."),
    field<&ImportJob::expires_at>("expires_at",
                                  "Time when the job, its rows and its report are deleted."),
    field<&ImportJob::created_at>("created_at", "Time when the record was created."),
    field<&ImportJob::updated_at>("updated_at", "Time of the last change."));

constexpr auto kImportList = list_of<kImportJob>("ImportList", "imports");

// ---------------------------------------------------------------------------- handlers

auto create_import(Call& call, OrgTransaction& transaction, const service::NewImport& in) {
    auto job = service::create_import(transaction, call.context.settings.limits, in);
    return Answer{job, "/v1/imports/" + job.id.text(), job.expires_at};
}

auto list_imports(Call& call) {
    const auto before = call.cursor_id<ImportId>();
    const auto state = call.query.text("state");
    const int limit = call.query.integer("limit");
    auto page =
        service::list_imports(call.context, call.org(), before,
                              state ? parse<rules::ImportState>(*state) : std::nullopt, limit);
    const auto next = page.next ? std::optional<std::string>(page.next->bytes()) : std::nullopt;
    return page_of(call, std::move(page.jobs), next);
}

Answer<ImportJob> polled_import(ImportJob job) {
    const auto expires_at = job.expires_at;
    return polled(std::move(job), expires_at);
}

// Whether the poll may start a requested commit: a HEAD and a viewer change nothing.
bool may_start_commit(const Call& call) {
    return call.request.method == Method::Get && call.role() >= rules::Role::Admin;
}

auto get_import(Call& call) {
    const auto id = call.id<ImportId>();
    auto job = may_start_commit(call) ? service::poll_import(call.context, call.org(), id)
                                      : service::read_import(call.context, call.org(), id);
    if (!job) throw Error(ErrorCode::NotFound);
    return polled_import(std::move(*job));
}

auto validate_import(Call& call, OrgTransaction& transaction, Nothing) {
    return polled_import(service::validate_import(transaction, call.id<ImportId>()));
}

auto commit_import(Call& call, OrgTransaction& transaction, CommitImport in) {
    return polled_import(service::commit_import(transaction, call.id<ImportId>(), in.dry_run));
}

auto reopen_import(Call& call, OrgTransaction& transaction, Nothing) {
    auto job = service::reopen_import(transaction, call.id<ImportId>());
    return Answer{job, "", job.expires_at};
}

auto undo_import(Call& call, OrgTransaction& transaction, UndoImport in) {
    const auto mode = in.dry_run == true ? service::UndoMode::Predict : service::UndoMode::Undo;
    return polled_import(service::undo_import(transaction, call.id<ImportId>(), mode));
}

auto cancel_import(Call& call, OrgTransaction& transaction, Nothing) {
    auto job = service::cancel_import(transaction, call.id<ImportId>());
    return Answer{job, "", job.expires_at};
}

// ---------------------------------------------------------------------------- rows

constexpr std::array kImportListQuery = {
    page_limit(),
    kPageCursor,
    QueryParameter{.name = "state",
                   .choice = name_at<rules::ImportState>,
                   .meaning = "Only jobs in this state."},
};
constexpr std::array kImportCreateErrors = {ErrorCode::ImportJobActiveExists,
                                            ErrorCode::ImportMappingInvalid};
constexpr std::array kImportStateErrors = {ErrorCode::ImportJobInvalidState};

constexpr std::array kUndoErrors = {ErrorCode::ImportJobInvalidState,
                                    ErrorCode::ImportJobActiveExists};

constexpr std::array kImportEndpoints = {
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports",
        .operation = "createImport",
        .summary = "Create an import job",
        .description =
            "Creates an import job in state staging. Next, stage the rows, validate and commit. "
            "An organization has one active job at a time: otherwise 409 IMPORT_JOB_ACTIVE_EXISTS "
            "with its id. An import never overwrites or deletes a value.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_required = true,
        .body_component = "NewImport",
        .body_schema = schema_of<kNewImport>,
        .body_example = kNewImportExample,
        .reply = {201, "The job, in state staging."},
        .errors = kImportCreateErrors,
        .handler = decoded<kNewImport, answers<kImportJob, create_import>>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/imports",
        .operation = "listImports",
        .summary = "List import jobs, newest first",
        .description =
            "Lists the import jobs of the organization, the newest first. state selects one "
            "state. A page may be shorter than limit; continue until next_cursor is null. Jobs are "
            "deleted 30 days after creation.",
        .query = kImportListQuery,
        .reply = {200, "A page of jobs."},
        .handler = answers<kImportList, list_imports>},
    Endpoint{
        .method = Method::Get,
        .path = "/v1/imports/{id}",
        .operation = "getImport",
        .summary = "Read an import job with its counts",
        .description =
            "Returns the job with its counts. Poll it after validate and commit, no faster than "
            "Retry-After. Once the dry run is done, it also starts a commit that was requested with "
            "dry_run false, if the caller may write.",
        .reply = with_retry_after({200, "The job."}),
        .handler = answers<kImportJob, get_import>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/validate",
        .operation = "validateImport",
        .summary = "End the staging and start the dry run",
        .description =
            "Ends the staging and starts the dry run. It validates every row and predicts the "
            "result of the commit, without changing a member. Poll getImport until the state is "
            "validated.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = with_retry_after({202, "The job, in state validating."}),
        .errors = kImportStateErrors,
        .handler = decoded<kNothing, retry_after_replay<answers<kImportJob, validate_import>>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/commit",
        .operation = "commitImport",
        .summary = "Write the valid rows",
        .description =
            "Starts to write the valid rows: users are created or attached, and empty values are "
            "filled. It continues after a crash and writes each row once. With dry_run false, a "
            "staging job is validated first. Poll getImport for the result.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_component = "CommitImport",
        .body_schema = schema_of<kCommitImport>,
        .body_example = R"({"dry_run": false})",
        .reply = with_retry_after({202, "The job, which the runner processes."}),
        .errors = kImportStateErrors,
        .handler = decoded<kCommitImport, retry_after_replay<answers<kImportJob, commit_import>>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/reopen",
        .operation = "reopenImport",
        .summary = "Return a validated job to staging",
        .description =
            "Returns a validated job to staging, so that corrected rows can replace theirs. The rows "
            "stay; the counts, errors and preview start again with the next validateImport. A "
            "staging job is not changed; other states are 409. The job still expires 30 days after "
            "its creation.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The job, in state staging."},
        .errors = kImportStateErrors,
        .handler = decoded<kNothing, answers<kImportJob, reopen_import>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/cancel",
        .operation = "cancelImport",
        .summary = "Cancel a job before its commit",
        .description =
            "Cancels a job that is staging, validating or validated. No member is changed, and "
            "another job can be created at once. A canceled job is not changed; other states are 409.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .reply = {200, "The job, in state canceled."},
        .errors = kImportStateErrors,
        .handler = decoded<kNothing, answers<kImportJob, cancel_import>>},
    Endpoint{
        .method = Method::Post,
        .path = "/v1/imports/{id}/undo",
        .operation = "undoImport",
        .summary = "Take back what an import wrote",
        .description =
            "Starts to take back what a completed or failed job wrote: members that it created or "
            "attached are removed, and values that it filled are emptied. Whatever was changed since "
            "is kept. With dry_run true, only the counts are returned. Poll getImport until the "
            "state is undone.",
        .role = rules::Role::Admin,
        .idempotency = IdempotencyKey::Accepted,
        .body_limit = kSmallBody,
        .body_component = "UndoImport",
        .body_schema = schema_of<kUndoImport>,
        .body_example = R"({"dry_run": true})",
        .reply = with_retry_after({202, "The job, in state undoing; unchanged after a dry run."}),
        .errors = kUndoErrors,
        .handler = decoded<kUndoImport, retry_after_replay<answers<kImportJob, undo_import>>>},
};
static_assert(well_formed(kImportEndpoints, "/v1/imports"));

}  // namespace

std::span<const Endpoint> import_endpoints() {
    return kImportEndpoints;
}

}  // namespace muster::api
