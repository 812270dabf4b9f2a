// musterctl audit.
#include "rules/audit.hpp"
#include "service/audit.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"

namespace muster::ctl {
namespace {

constexpr int kMostListed = 1000;

int limit_of(const Invocation& in) {
    const auto limit = parse_number<int>(in.optional("--limit", "50"));
    if (!limit || *limit < 1 || *limit > kMostListed)
        throw invalid_value("--limit", in.optional("--limit"), "a number from 1 to 1000");
    return *limit;
}

Json::Value text_or_null(const std::optional<std::string>& text) {
    return text ? Json::Value(*text) : Json::Value();
}

Json::Value entry_json(const rules::AuditEntry& entry) {
    const auto id = [](const auto& value) {
        return value ? Json::Value(value->text()) : Json::Value();
    };
    Json::Value json;
    json["id"] = entry.id.text();
    json["organization_id"] = id(entry.organization_id);
    json["actor"] = std::string(text_of(entry.actor));
    json["actor_id"] = id(entry.actor_id);
    json["actor_email"] = text_or_null(entry.actor_email);
    json["action"] = entry.action;
    json["subject_id"] = text_or_null(entry.subject_id);
    if (!parse_json(entry.details, json["details"])) json["details"] = Json::Value();
    json["request_id"] = text_or_null(entry.request_id);
    json["created_at"] = entry.created_at.text();
    return json;
}

std::vector<std::string> cells_of(const rules::AuditEntry& entry) {
    const std::string actor =
        entry.actor_id ? "admin " + entry.actor_id->text() : std::string(text_of(entry.actor));
    return {time_cell(entry.created_at),
            entry.organization_id ? entry.organization_id->text() : "installation",
            actor,
            entry.action,
            entry.subject_id.value_or(""),
            entry.details};
}

}  // namespace

Result show_audit_log(const Invocation& in) {
    const int limit = limit_of(in);
    std::optional<OrgId> organization;
    if (in.flag("--org")) {
        organization = in.organization();
    }
    std::optional<std::string> action;
    if (in.flag("--action")) action = in.required("--action");
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"TIME", "ORGANIZATION", "ACTOR", "ACTION", "SUBJECT", "DETAILS"});
    for (const auto& entry :
         service::newest_audit_entries(in.context, organization, action, limit)) {
        result.json.append(entry_json(entry));
        table.add(cells_of(entry));
    }
    result.text = table.text();
    return result;
}

}  // namespace muster::ctl
