// musterctl user.
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "service/privacy/erasure.hpp"

#include <cstdint>

namespace muster::ctl {
namespace {

using service::Erasure;
using service::KeptJob;

std::string table_of(const Erasure& erasure) {
    if (erasure.organizations.empty()) return "";
    Table table({"ORGANIZATION", "MEMBER", "IMPORT ROWS", "REPLIES", "EVENTS", "WEBHOOKS",
                 "INVITED", "NAME"});
    for (const auto& here : erasure.organizations) {
        table.add({here.organization.text(), here.member ? here.member->text() : "",
                   std::to_string(here.import_rows), std::to_string(here.replies),
                   std::to_string(here.events), std::to_string(here.webhooks),
                   here.is_invited ? "yes" : "", here.name});
    }
    return table.text();
}

std::string jobs_text(const std::vector<KeptJob>& jobs, const std::string& sentence) {
    if (jobs.empty()) return "";
    std::string text = sentence + ":\n";
    for (const KeptJob& job : jobs) {
        text += "  import " + job.id.text() + " of organization " + job.organization.text() + "\n";
    }
    return text;
}

std::string text_of(const Erasure& erasure, bool erased) {
    const bool found = erasure.user || !erasure.organizations.empty();
    std::string text;
    if (!found) {
        text += "there is no data of this person to erase\n";
    } else {
        text += erased ? "erased:\n" : "would be erased (repeat with --yes to erase it):\n";
        if (erasure.user) text += "user " + erasure.user->text() + "\n";
        text += table_of(erasure);
    }
    if (erasure.is_admin) text += "an admin has this address: admins are not erased\n";
    text += jobs_text(erasure.active_jobs,
                      "these active imports hold rows of this person, which are not erased; repeat "
                      "the command when the jobs have ended");
    text +=
        jobs_text(erasure.unreadable_jobs,
                  "stored rows of these imports contain the address and cannot be read; they are "
                  "deleted with the job, 30 days after its creation");
    return text;
}

Json::Value jobs_json(const std::vector<KeptJob>& jobs) {
    Json::Value json(Json::arrayValue);
    for (const KeptJob& job : jobs) {
        Json::Value entry;
        entry["organization_id"] = job.organization.text();
        entry["id"] = job.id.text();
        json.append(std::move(entry));
    }
    return json;
}

Json::Value json_of(const Erasure& erasure, bool erased) {
    Json::Value json;
    json["erased"] = erased;
    json["complete"] = erased && erasure.is_complete();
    json["user_id"] = erasure.user ? Json::Value(erasure.user->text()) : Json::Value();
    json["is_admin"] = erasure.is_admin;
    json["organizations"] = Json::Value(Json::arrayValue);
    for (const auto& here : erasure.organizations) {
        Json::Value entry;
        entry["id"] = here.organization.text();
        entry["name"] = here.name;
        entry["member_id"] = here.member ? Json::Value(here.member->text()) : Json::Value();
        entry["import_rows"] = Json::Int64(here.import_rows);
        entry["replies"] = Json::Int64(here.replies);
        entry["events"] = Json::Int64(here.events);
        entry["webhooks"] = Json::Int64(here.webhooks);
        entry["is_invited"] = here.is_invited;
        json["organizations"].append(std::move(entry));
    }
    json["active_imports"] = jobs_json(erasure.active_jobs);
    json["unreadable_imports"] = jobs_json(erasure.unreadable_jobs);
    return json;
}

}  // namespace

Result erase_user(const Invocation& in) {
    const std::string email = in.email();
    const bool erases = in.flag("--yes");
    const Erasure erasure = erases ? service::erase_person(in.context, email)
                                   : service::preview_erasure(in.context, email);
    Result result;
    result.json = json_of(erasure, erases);
    result.text = text_of(erasure, erases);
    result.status = erases && !erasure.is_complete() ? 1 : 0;
    return result;
}

}  // namespace muster::ctl
