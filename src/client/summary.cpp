#include "client/summary.hpp"

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "client/console.hpp"

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

std::string intake_lines(const Summary& summary) {
    return count_line("rows in the file", summary.rows) + "\n" +
           count_line("rejected before staging", summary.refused()) + "\n" +
           count_line("staged", summary.job->staged) + "\n" +
           count_line("  invalid", summary.job->invalid) + "\n" +
           count_line("  valid", summary.job->valid);
}

// `outcome`: "were not imported"
std::string report_line(const Summary& summary, const std::string& outcome) {
    if (summary.errors_file.empty()) return "";
    return "\n" + shortfall_text(summary, outcome);
}

std::string type_note(const ColumnRoute& route, const rules::AttributeRegistry& registry) {
    if (route.kind == ColumnRoute::Kind::AttributesJson) return "  (JSON, as in an error report)";
    const rules::Attribute* attribute = registry.find(route.attribute_key);
    if (route.kind != ColumnRoute::Kind::Attribute || attribute == nullptr) return {};
    return "  (" + std::string(text_of(attribute->type)) + ")";
}

// "\n  3 columns are ignored: LEID, TAGS, Phone (attribute phone is disabled)"
std::string ignored_line(const std::vector<ColumnRoute>& routes,
                         const rules::AttributeRegistry& registry) {
    std::string names;
    std::size_t number = 0;
    for (const ColumnRoute& route : routes) {
        if (route.kind != ColumnRoute::Kind::Ignored) continue;
        names += (number == 0 ? ": " : ", ") + printable(route.column);
        const std::string disabled = disabled_attribute(route.column, registry);
        if (!disabled.empty()) names += " (attribute " + disabled + " is disabled)";
        ++number;
    }
    if (number == 0) return "";
    return "\n  " + grouped(number) + (number == 1 ? " column is" : " columns are") + " ignored" +
           names;
}

// The address: a row cannot be imported without it.
bool is_required(const Refusal& refusal) {
    return refusal.code == "LOCAL_INVALID_EMAIL" || refusal.code == "LOCAL_REQUIRED";
}

Json::Value count(std::uint64_t number) {
    return Json::Value(static_cast<Json::UInt64>(number));
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
    if (!job.preview) return;
    document["preview"]["create"] = count(job.preview->create);
    document["preview"]["attach"] = count(job.preview->attach);
    document["preview"]["merge"] = count(job.preview->merge);
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

std::string shortfall_text(const Summary& summary, const std::string& outcome) {
    return grouped(summary.missing()) + " of " + grouped(summary.rows) +
           (summary.rows == 1 ? " row " : " rows ") + outcome + "; the reasons are in " +
           summary.errors_file;
}

void RefusalCounts::add(const Refusal& refusal) {
    Entry& entry =
        entries_.try_emplace({refusal.column, refusal.code}, Entry{refusal, 0}).first->second;
    ++entry.rows;
}

std::string RefusalCounts::text() const {
    constexpr std::size_t kMostLines = 5;
    std::vector<const Entry*> sorted;
    for (const auto& [key, entry] : entries_) sorted.push_back(&entry);
    std::ranges::stable_sort(sorted, std::greater<>(), &Entry::rows);
    std::string text;
    for (const Entry* entry : std::span(sorted).first(std::min(kMostLines, sorted.size()))) {
        const Refusal& refusal = entry->first;
        text += "\n  " + grouped(entry->rows) + (entry->rows == 1 ? " row: " : " rows: ") +
                refusal.message;
        if (!refusal.column.empty() && !is_required(refusal)) {
            text += " (--map '" + printable(refusal.column) + "=ignored' imports " +
                    (entry->rows == 1 ? "it" : "them") + " without the value)";
        }
    }
    if (sorted.size() > kMostLines) text += "\n  and other reasons";
    return text;
}

std::string mapping_text(const std::string& file, char separator,
                         const std::vector<ColumnRoute>& routes,
                         const rules::AttributeRegistry& registry) {
    constexpr std::size_t kWidest = 40;
    std::size_t width = 0;
    for (const ColumnRoute& route : routes) {
        if (route.kind == ColumnRoute::Kind::Ignored) continue;
        width = std::max(width, utf8_length(printable(route.column)));
    }
    width = std::min(width, kWidest);

    std::string text = "Columns of " + file + " (separator ";
    text += separator == '\t' ? std::string("tab") : std::string("\"") + separator + "\"";
    text += "), change one with --map 'COLUMN=TARGET':";
    for (const ColumnRoute& route : routes) {
        if (route.kind == ColumnRoute::Kind::Ignored) continue;
        const std::string column = printable(route.column);
        text += "\n  " + column;
        text.append(width - std::min(width, utf8_length(column)), ' ');
        text += "  -> " + target_text(route) + type_note(route, registry);
    }
    return text + ignored_line(routes, registry);
}

std::string dry_run_text(const Summary& summary) {
    std::string text = "Dry run of job " + summary.job->id + ":\n" + intake_lines(summary);
    if (const auto& preview = summary.job->preview) {
        text += "\n" + count_line("    to create", preview->create) + "\n" +
                count_line("    to attach", preview->attach) + "\n" +
                count_line("    members to complete", preview->merge);
    }
    return text + report_line(summary, "cannot be imported");
}

std::string final_text(const Summary& summary) {
    return "Import " + summary.job->id + " is complete:\n" + intake_lines(summary) + "\n" +
           count_line("    created", summary.job->created) + "\n" +
           count_line("    attached or completed", summary.job->attached) + "\n" +
           count_line("    failed", summary.job->failed) +
           report_line(summary, "were not imported");
}

std::string summary_json(const Summary& summary, ExitCode exit_code) {
    Json::Value document;
    for (const char* name : {"job_id", "state", "staged", "valid", "invalid", "created", "attached",
                             "failed", "preview", "errors_file"}) {
        document[name] = Json::nullValue;
    }
    document["file"] = summary.file;
    document["rows"] = count(summary.rows);
    document["refused"] = count(summary.refused());
    if (summary.job) add_job(document, *summary.job);
    if (!summary.errors_file.empty()) document["errors_file"] = summary.errors_file;
    document["error"] = summary.error;
    document["exit_code"] = static_cast<int>(exit_code);
    return json_text(document);
}

ExitCode exit_code_of(const Summary& summary) {
    return summary.missing() == 0 ? ExitCode::AllIn : ExitCode::SomeNotIn;
}

}  // namespace muster::client
