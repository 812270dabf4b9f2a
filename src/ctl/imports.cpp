// musterctl import.
#include "service/imports/jobs.hpp"

#include "base/error.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace muster::ctl {
namespace {

constexpr int kListed = 100;  // the newest; older ones are found by their id

ImportId import_id(const Invocation& in) {
    const auto id = ImportId::parse(in.required("--id"));
    if (!id) throw invalid_value("--id", in.required("--id"), "an id of `musterctl import list`");
    return *id;
}

CommandError no_import(ImportId id) {
    return CommandError("the organization has no import job " + id.text());
}

constexpr std::array<std::pair<const char*, std::int64_t rules::ImportUndo::*>, 5> kUndoCounts = {{
    {"removed", &rules::ImportUndo::removed},
    {"detached", &rules::ImportUndo::detached},
    {"emptied", &rules::ImportUndo::emptied},
    {"kept", &rules::ImportUndo::kept},
    {"unaffected", &rules::ImportUndo::unaffected},
}};

Json::Value undo_json(const rules::ImportUndo& undo) {
    Json::Value json;
    for (const auto& [name, count] : kUndoCounts) json[name] = Json::Int64(undo.*count);
    return json;
}

Json::Value job_json(const rules::ImportJob& job) {
    Json::Value json;
    json["id"] = job.id.text();
    json["state"] = std::string(text_of(job.state));
    json["file_name"] = job.file_name;
    json["staged_rows"] = Json::Int64(job.staged_rows);
    json["processed_rows"] = Json::Int64(job.processed_rows);
    json["valid_rows"] = Json::Int64(job.valid_rows);
    json["invalid_rows"] = Json::Int64(job.invalid_rows);
    json["created_count"] = Json::Int64(job.created_count);
    json["attached_count"] = Json::Int64(job.attached_count);
    json["failed_count"] = Json::Int64(job.failed_count);
    json["attempts"] = job.attempts;
    json["created_at"] = job.created_at.text();
    json["heartbeat_at"] = job.heartbeat_at ? Json::Value(job.heartbeat_at->text()) : Json::Value();
    if (job.failure) json["failure"] = job.failure->code;
    if (job.phase_started_at) json["phase_started_at"] = job.phase_started_at->text();
    if (job.queue_position) json["queue_position"] = Json::Int64(*job.queue_position);
    if (job.undo) json["undo"] = undo_json(*job.undo);
    json["errors"] = Json::Value(Json::arrayValue);
    for (const rules::ErrorCount& entry : job.errors) {
        Json::Value error;
        error["error_code"] = std::string(text_of(entry.error));
        error["field"] = entry.field.empty() ? Json::Value() : Json::Value(entry.field);
        error["count"] = Json::Int64(entry.count);
        json["errors"].append(std::move(error));
    }
    return json;
}

// In the order of a job's life. jsoncpp sorts members by name.
constexpr std::array kShown = {
    "id",
    "state",
    "failure",
    "file_name",
    "created_at",
    "phase_started_at",
    "queue_position",
    "heartbeat_at",
    "attempts",
    "staged_rows",
    "processed_rows",
    "valid_rows",
    "invalid_rows",
    "created_count",
    "attached_count",
    "failed_count",
};

std::string job_text(const Json::Value& job) {
    std::string text;
    for (const char* name : kShown) {
        if (!job.isMember(name)) continue;
        const std::string value = job[name].asString();
        text += std::string(name) + ": " + (value.empty() ? "-" : printable(value)) + "\n";
    }
    if (job.isMember("undo")) {
        for (const auto& [name, count] : kUndoCounts) {
            text += "undo " + std::string(name) + ": " + job["undo"][name].asString() + "\n";
        }
    }
    for (const Json::Value& error : job["errors"]) {
        text += "error: " + error["error_code"].asString() + " " +
                (error["field"].isNull() ? "-" : printable(error["field"].asString())) + " " +
                error["count"].asString() + "\n";
    }
    return text;
}

std::vector<rules::ImportJob> newest_imports(const Invocation& in) {
    std::vector<rules::ImportJob> jobs;
    std::optional<ImportId> before;
    do {
        auto page = service::list_imports(in.context, in.organization(), before, std::nullopt,
                                          kListed - static_cast<int>(jobs.size()));
        std::move(page.jobs.begin(), page.jobs.end(), std::back_inserter(jobs));
        before = page.next;
    } while (before && jobs.size() < kListed);
    return jobs;
}

// Cancels the job. Reports in words why it cannot be canceled.
void cancel(const Invocation& in, OrgId organization, ImportId id) {
    try {
        service::cancel_import_now(in.context, organization, id);
    } catch (const Error& error) {
        if (in.flag("--json")) throw;  // programs read its code and details
        if (error.code() == ErrorCode::NotFound) throw no_import(id);
        if (error.code() != ErrorCode::ImportJobInvalidState) throw;
        throw CommandError("the job is " + error.details()["state"].asString() +
                           "; only a job in " + error.details()["expected"].asString() +
                           " can be canceled");
    }
}

}  // namespace

Result list_imports(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "STATE", "PROCESSED", "STAGED", "CREATED", "FILE"});
    for (const auto& job : newest_imports(in)) {
        result.json.append(job_json(job));
        table.add({job.id.text(), std::string(text_of(job.state)),
                   std::to_string(job.processed_rows), std::to_string(job.staged_rows),
                   time_cell(job.created_at), job.file_name});
    }
    result.text = table.text();
    return result;
}

Result show_import(const Invocation& in) {
    // Reads the job without moving it to its next state.
    const ImportId id = import_id(in);
    const auto job = service::read_import(in.context, in.organization(), id);
    if (!job) throw no_import(id);
    Result result;
    result.json = job_json(*job);
    result.text = job_text(result.json);
    return result;
}

Result cancel_import(const Invocation& in) {
    const ImportId id = import_id(in);
    const OrgId organization = in.organization();
    in.confirm("Cancel import " + id.text() + "? Its staged rows cannot be imported any more.");
    cancel(in, organization, id);
    Result result;
    result.json["id"] = in.required("--id");
    result.json["state"] = "canceled";
    result.text = "canceled\n";
    return result;
}

}  // namespace muster::ctl
