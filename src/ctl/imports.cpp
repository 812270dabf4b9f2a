// musterctl import.
#include "service/imports/jobs.hpp"

#include "ctl/command.hpp"
#include "service/access/organizations.hpp"

namespace muster::ctl {
namespace {

constexpr int kListed = 100;  // the newest; older ones are found by their id

ImportId import_id(const Invocation& in) {
    const auto id = ImportId::parse(in.required("--id"));
    if (!id) throw invalid_value("--id", in.required("--id"), "an id of `musterctl import list`");
    return *id;
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
    return json;
}

std::string job_line(const rules::ImportJob& job) {
    return job.id.text() + "  " + std::string(text_of(job.state)) + "  " +
           std::to_string(job.processed_rows) + "/" + std::to_string(job.staged_rows) + "  " +
           job.file_name + "\n";
}

}  // namespace

Result list_imports(const Invocation& in) {
    service::require_organization(in.context, in.organization());
    Result result;
    result.json = Json::Value(Json::arrayValue);
    auto jobs =
        service::list_imports(in.context, in.organization(), std::nullopt, std::nullopt, kListed);
    if (jobs.size() > kListed) jobs.pop_back();
    for (const auto& job : jobs) {
        result.json.append(job_json(job));
        result.text += job_line(job);
    }
    return result;
}

Result show_import(const Invocation& in) {
    // Read as it is: the operator's look moves nothing.
    const auto job = service::read_import(in.context, in.organization(), import_id(in));
    if (!job) throw CommandError("the organization has no such import job");
    Result result;
    result.json = job_json(*job);
    for (const std::string& name : result.json.getMemberNames()) {
        result.text += name + ": " + result.json[name].asString() + "\n";
    }
    return result;
}

Result cancel_import(const Invocation& in) {
    service::cancel_import_now(in.context, in.organization(), import_id(in));
    Result result;
    result.json["id"] = in.required("--id");
    result.json["state"] = "canceled";
    result.text = "canceled\n";
    return result;
}

}  // namespace muster::ctl
