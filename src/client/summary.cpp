#include "client/summary.hpp"

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/console.hpp"
#include "rules/attributes.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace muster::client {
namespace {

// "  Valid            9,860"
std::string count_line(std::string_view label, std::uint64_t count) {
    constexpr std::size_t kLabelWidth = 26;
    constexpr std::size_t kCountWidth = 9;
    std::string line = "  " + std::string(label);
    line.append(kLabelWidth - std::min(kLabelWidth, label.size()), ' ');
    const std::string number = grouped(count);
    line.append(kCountWidth - std::min(kCountWidth, number.size()), ' ');
    return line + number;
}

std::string report_line(const Summary& summary, Shortfall shortfall) {
    const std::string text = shortfall_text(summary, shortfall);
    return text.empty() ? "" : "\n" + text;
}

// "  (date, dates as DD.MM.YYYY)"
std::string column_note(const ColumnRoute& route, const ValueFormat& format,
                        const rules::AttributeRegistry& registry) {
    if (route.kind == ColumnRoute::Kind::AttributesJson) return "  (JSON, as in an error report)";
    const rules::Attribute* attribute = registry.find(route.attribute_key);
    const bool is_attribute = route.kind == ColumnRoute::Kind::Attribute && attribute != nullptr;
    const std::string type(is_attribute ? text_of(attribute->type) : "");
    const std::string form = format_text(value_kind(route, registry), format);
    if (type.empty() && form.empty()) return "";
    return "  (" + type + (type.empty() || form.empty() ? "" : ", ") + form + ")";
}

// "\n  3 columns are ignored: LEID, TAGS, Phone (attribute phone is disabled)"
std::string ignored_line(const std::vector<ColumnRoute>& routes,
                         const rules::AttributeRegistry& registry) {
    constexpr std::size_t kMostNames = 50;
    std::string names;
    std::size_t number = 0;
    for (const ColumnRoute& route : routes) {
        if (route.kind != ColumnRoute::Kind::Ignored) continue;
        if (++number > kMostNames) continue;
        names += (number == 1 ? ": " : ", ") + printable(route.column);
        const std::string disabled = disabled_attribute(route.column, registry);
        if (!disabled.empty()) names += " (attribute " + disabled + " is disabled)";
    }
    if (number == 0) return "";
    if (number > kMostNames) names += " and " + grouped(number - kMostNames) + " more";
    return "\n  " + grouped(number) + (number == 1 ? " column is" : " columns are") + " ignored" +
           names;
}

Json::Value count(std::uint64_t number) {
    return Json::Value(static_cast<Json::UInt64>(number));
}

// The fields of job_line(), named as in the API.
Json::Value listed(const ImportJob& job) {
    Json::Value value;
    value["id"] = job.id;
    value["created_at"] = job.created_at;
    value["state"] = std::string(text_of(job.state));
    value["declared_total"] = count(job.declared_total);
    value["file_name"] = job.file_name;
    return value;
}

void add_job(Json::Value& document, const ImportJob& job) {
    document["job_id"] = job.id;
    document["state"] = std::string(text_of(job.state));
    document["staged"] = count(job.staged);
    document["valid"] = count(job.valid);
    document["invalid"] = count(job.invalid);
    document["created"] = count(job.created);
    document["attached"] = count(job.attached);
    document["failed"] = count(job.failed);
    if (const auto& undo = job.undo) {
        document["undo"]["removed"] = count(undo->removed);
        document["undo"]["detached"] = count(undo->detached);
        document["undo"]["emptied"] = count(undo->emptied);
        document["undo"]["kept"] = count(undo->kept);
        document["undo"]["unaffected"] = count(undo->unaffected);
        document["undo"]["is_estimate"] = undo->is_estimate;
    }
    if (!job.preview) return;
    document["preview"]["new_members"] = count(job.preview->new_members);
    document["preview"]["existing_members"] = count(job.preview->existing_members);
}

}  // namespace

std::uint64_t Summary::refused() const {
    return job && rows >= job->staged && job->state != rules::ImportState::Staging
               ? rows - job->staged
               : refused_here;
}

std::uint64_t Summary::missing() const {
    return refused() + (job ? job->invalid + job->failed : 0);
}

std::string shortfall_text(const Summary& summary, Shortfall shortfall) {
    std::string text;
    const std::string past = summary.missing() == 1 ? " was not imported" : " were not imported";
    if (summary.missing() > 0) {
        text = grouped(summary.missing()) + " of " + counted(summary.rows, "row") +
               (shortfall == Shortfall::NotImported ? past : " cannot be imported");
    }
    if (summary.values_left_out > 0) {
        text += (text.empty() ? "" : "; ") + grouped(summary.values_left_out) +
                (summary.values_left_out == 1 ? " value was" : " values were") + " left out";
    }
    if (!text.empty() && !summary.errors_file.empty())
        text += "; the reasons are in " + summary.errors_file;
    return text;
}

std::string mapping_text(const MappingView& view) {
    constexpr std::size_t kWidest = 40;
    std::size_t width = 0;
    for (const ColumnRoute& route : view.routes) {
        if (route.kind == ColumnRoute::Kind::Ignored) continue;
        width = std::max(width, utf8_length(printable(route.column)));
    }
    width = std::min(width, kWidest);

    std::string text = "Columns of " + view.file + ", change one with --map 'COLUMN=TARGET':";
    for (std::size_t i = 0; i < view.routes.size(); ++i) {
        const ColumnRoute& route = view.routes[i];
        if (route.kind == ColumnRoute::Kind::Ignored) continue;
        const std::string column = printable(route.column);
        text += "\n  " + column;
        text.append(width - std::min(width, utf8_length(column)), ' ');
        text += "  -> " + target_text(route) + column_note(route, view.formats[i], view.registry);
    }
    return text + ignored_line(view.routes, view.registry);
}

std::string job_line(const ImportJob& job) {
    const std::string state(text_of(job.state));
    return job.id + "  " + job.created_at.substr(0, 16) + "  " + state +
           std::string(12 - std::min<std::size_t>(12, state.size()), ' ') +
           counted(job.declared_total, "row") + "  " + printable(job.file_name);
}

std::string dry_run_text(const Summary& summary) {
    std::string text = "Dry run of job " + summary.job->id + ":\n" +
                       count_line("rows in the file", summary.rows) + "\n" +
                       count_line("can be imported", summary.job->valid);
    if (const auto& preview = summary.job->preview) {
        text += "\n" + count_line("  new members", preview->new_members) + "\n" +
                count_line("  existing members", preview->existing_members);
    }
    return text + "\n" + count_line("cannot be imported", summary.missing()) +
           report_line(summary, Shortfall::CannotBeImported);
}

std::string final_text(const Summary& summary) {
    const ImportJob& job = *summary.job;
    return "Import " + job.id + " is complete:\n" + count_line("rows in the file", summary.rows) +
           "\n" + count_line("imported", job.created + job.attached) + "\n" +
           count_line("  created", job.created) + "\n" +
           count_line("  attached or completed", job.attached) + "\n" +
           count_line("not imported", summary.missing()) +
           report_line(summary, Shortfall::NotImported);
}

std::string summary_json(const Summary& summary, ExitCode exit_code) {
    Json::Value document;
    for (const char* name : {"file", "job_id", "state", "staged", "valid", "invalid", "created",
                             "attached", "failed", "preview", "undo", "errors_file", "jobs"}) {
        document[name] = Json::nullValue;
    }
    if (!summary.file.empty()) document["file"] = summary.file;
    document["rows"] = count(summary.rows);
    document["refused"] = count(summary.refused());
    document["values_left_out"] = count(summary.values_left_out);
    document["rows_left_out"] = count(summary.rows_left_out);
    if (summary.job) add_job(document, *summary.job);
    if (summary.jobs) {
        document["jobs"] = Json::Value(Json::arrayValue);
        for (const ImportJob& job : *summary.jobs) document["jobs"].append(listed(job));
    }
    if (!summary.errors_file.empty()) document["errors_file"] = summary.errors_file;
    document["error"] = summary.error;
    document["exit_code"] = static_cast<int>(exit_code);
    return json_text(document);
}

ExitCode fail_run(Console& console, Summary& summary, ExitCode exit_code, const std::string& text) {
    console.error(text);
    summary.error["message"] = text;
    return exit_code;
}

ExitCode exit_code_of(const Summary& summary) {
    return summary.missing() == 0 ? ExitCode::AllIn : ExitCode::SomeNotIn;
}

}  // namespace muster::client
