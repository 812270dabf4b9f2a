// musterctl org delete.
#include "service/organization/deletion.hpp"

#include "base/printable.hpp"
#include "base/stop_signals.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "rules/access/organizations.hpp"
#include "service/access/organizations.hpp"
#include "service/failure.hpp"

#include <csignal>
#include <exception>

namespace muster::ctl {
namespace {

using rules::OrganizationState;
using service::DeletionState;
using service::TableCount;
using Counts = std::vector<TableCount>;

std::string rows_cell(std::int64_t rows) {
    if (rows <= service::kMostPreviewedRows) return std::to_string(rows);
    return "more than " + std::to_string(service::kMostPreviewedRows);
}

std::string table_of(const Counts& counts) {
    Table table({"ROWS", "TABLE"});
    for (const auto& [name, rows] : counts) table.add({rows_cell(rows), std::string(name)});
    return table.text();
}

Json::Value json_of(const rules::Organization& organization, std::string_view state,
                    const Counts& counts) {
    Json::Value json;
    json["id"] = organization.id.text();
    json["name"] = organization.name;
    json["state"] = std::string(state);
    json["tables"] = Json::Value(Json::arrayValue);
    for (const auto& [name, rows] : counts) {
        Json::Value entry;
        entry["table"] = std::string(name);
        entry["rows"] = Json::Int64(std::min(rows, service::kMostPreviewedRows));
        entry["exact"] = rows <= service::kMostPreviewedRows;
        json["tables"].append(std::move(entry));
    }
    return json;
}

Result preview(const rules::Organization& organization, const Counts& counts) {
    return {json_of(organization, text_of(organization.state), counts),
            "would be deleted (repeat with --confirm and the organization's name to delete it):\n" +
                table_of(counts)};
}

// The name was typed. Throws CommandError for another one.
void require_name(const std::string& typed, const std::string& name) {
    if (typed == name) return;
    throw CommandError("the name is " + in_quotes(name) + ", not " + in_quotes(typed) +
                       "; nothing was changed");
}

// Whether the operator confirmed the deletion, by typing the name or with --confirm. Without both,
// the command only shows what it would delete.
bool is_confirmed(const Invocation& in, const rules::Organization& organization,
                  const Counts& counts) {
    if (organization.state == OrganizationState::Deleting) return true;
    if (in.flag("--confirm")) {
        require_name(in.required("--confirm"), organization.name);
        return true;
    }
    if (!in.ask_text) return false;
    require_name(in.ask_text("These rows will be deleted:\n" + table_of(counts) +
                             "This cannot be undone. Type the organization's name to delete it:"),
                 organization.name);
    return true;
}

CommandError incomplete(const std::string& reason, const rules::Organization& organization) {
    return CommandError(reason +
                        ": the deletion has begun and is not complete; run `musterctl org "
                        "delete " +
                        organization.id.text() +
                        "` again to continue it, or `muster-run purge` will");
}

// Throws CommandError after a signal.
Result deleted(const Invocation& in, const rules::Organization& organization) {
    // The first signal ends the deletion after the step in progress.
    const auto& is_interrupted = watch_stop_signals({SIGINT, SIGTERM, SIGHUP});
    const auto state = service::delete_organization(in.context, organization.id,
                                                    [&] { return is_interrupted.load(); });
    if (state == DeletionState::Working) throw CommandError("interrupted");
    if (state == DeletionState::Done) {
        return {json_of(organization, "deleted", {}), "deleted " + organization.name + "\n"};
    }
    const auto left = service::preview_organization_deletion(in.context, organization.id);
    return {json_of(organization, text_of(OrganizationState::Deleting), left),
            "deleted, except these rows, which the hourly purge deletes later (connections when "
            "their tokens are revoked, audit_log after 30 days):\n" +
                table_of(left)};
}

}  // namespace

Result delete_org(const Invocation& in) {
    const OrgId id = in.organization_argument();
    const auto organization = service::find_organization(in.context, id).value();
    const auto counts = service::preview_organization_deletion(in.context, id);
    if (!is_confirmed(in, organization, counts)) return preview(organization, counts);
    service::request_organization_deletion(in.context, id);
    try {
        return deleted(in, organization);
    } catch (const std::exception& error) {
        throw incomplete(service::explained(error), organization);
    }
}

}  // namespace muster::ctl
