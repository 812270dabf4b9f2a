// musterctl org (deletion.cpp: org delete), key.
#include "service/access/organizations.hpp"

#include "ctl/command.hpp"
#include "ctl/key_options.hpp"
#include "ctl/table.hpp"
#include "service/access/api_keys.hpp"
#include "service/organization/status.hpp"
#include "service/organization/usage.hpp"

#include <algorithm>

namespace muster::ctl {
namespace {

Json::Value key_json(const rules::ApiKey& key) {
    Json::Value json;
    json["id"] = key.id.text();
    json["organization_id"] = key.organization_id.text();
    json["name"] = key.name;
    json["prefix"] = "org_";
    json["last_four"] = key.last_four;
    json["role"] = std::string(text_of(key.role));
    json["rate_limit_per_second"] = number_json(key.rate_per_second);
    json["burst"] = number_json(key.burst);
    json["created_at"] = key.created_at.text();
    json["last_used_at"] = time_json(key.last_used_at);
    json["expires_at"] = time_json(key.expires_at);
    json["revoked_at"] = time_json(key.revoked_at);
    return json;
}

Json::Value organization_json(const rules::Organization& organization) {
    Json::Value json;
    json["id"] = organization.id.text();
    json["name"] = organization.name;
    json["created_at"] = organization.created_at.text();
    json["state"] = std::string(text_of(organization.state));
    return json;
}

// The organization as it is after a change.
Result changed(const Invocation& in, OrgId id) {
    const auto organization = service::find_organization(in.context, id).value();
    return {organization_json(organization),
            organization.name + " is " + std::string(text_of(organization.state)) + "\n"};
}

std::vector<rules::ApiKey> all_keys(const Invocation& in, OrgId organization) {
    constexpr int kPage = 1000;
    std::vector<rules::ApiKey> all;
    for (std::optional<ApiKeyId> after;; after = all.back().id) {
        auto page = service::list_api_keys(in.context, organization, after, kPage);
        all.insert(all.end(), page.begin(), page.end());
        if (page.size() < kPage) return all;
    }
}

}  // namespace

Result create_org(const Invocation& in) {
    const auto starters = in.flag("--no-starter-attributes") ? service::StarterAttributes::Disabled
                                                             : service::StarterAttributes::Enabled;
    const auto organization = service::create_organization(in.context, in.name(), starters);
    Result result;
    result.json = organization_json(organization);
    result.text = organization.id.text() + "\n";
    return result;
}

Result list_orgs(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "CREATED", "STATE", "NAME"});
    for (const auto& organization : service::list_organizations(in.context)) {
        result.json.append(organization_json(organization));
        table.add({organization.id.text(), time_cell(organization.created_at),
                   std::string(text_of(organization.state)), organization.name});
    }
    result.text = table.text();
    return result;
}

Result rename_org(const Invocation& in) {
    const std::string name = in.name();
    const OrgId id = in.organization_argument();
    const auto renamed = service::rename_organization(in.context, id, name);
    return {organization_json(renamed), "the name is now " + renamed.name + "\n"};
}

Result disable_org(const Invocation& in) {
    const OrgId id = in.organization_argument();
    const auto organization = service::find_organization(in.context, id).value();
    in.confirm("Disable " + organization.name +
               "? Its keys, sessions, webhooks and imports stop until it is enabled again.");
    if (!service::disable_organization(in.context, id)) {
        throw CommandError(organization.name + " is already " +
                           std::string(text_of(organization.state)));
    }
    return changed(in, id);
}

Result enable_org(const Invocation& in) {
    const OrgId id = in.organization_argument();
    if (!service::enable_organization(in.context, id)) {
        throw CommandError("the organization is already active");
    }
    return changed(in, id);
}

Result show_usage(const Invocation& in) {
    const auto usage = service::organization_usage(in.context, in.organization_argument());
    Result result;
    Table table({"QUOTA", "USED", "MAXIMUM", "FREES AT"});
    Json::Value& list = result.json["usage"] = Json::Value(Json::arrayValue);
    result.json["organization_id"] = usage.organization_id.text();
    for (const rules::Usage& use : usage.usage) {
        Json::Value entry;
        entry["quota"] = use.quota;
        entry["used"] = Json::Int64(use.used);
        entry["maximum"] = number_json(use.maximum);
        entry["frees_at"] = time_json(use.frees_at);
        list.append(std::move(entry));
        table.add({use.quota, std::to_string(use.used),
                   use.maximum ? std::to_string(*use.maximum) : "",
                   use.frees_at ? time_cell(use.frees_at) : ""});
    }
    result.text = table.text();
    return result;
}

Result issue_key(const Invocation& in) {
    const auto expires_at = expiry_option(in);
    const std::string role = in.optional("--role", "admin");
    const auto key_role = parse<rules::KeyRole>(role);
    if (!key_role) throw invalid_value("--role", role, "admin or viewer");
    const service::NewApiKey fields{in.name(), expires_at, rate_option(in, "--rate"),
                                    rate_option(in, "--burst"), *key_role};
    const auto issued = service::issue_api_key(in.context, in.lasting_organization(), fields);
    Result result;
    result.json = key_json(issued.key);
    result.json["key"] = issued.secret.reveal();
    result.text = issued.secret.reveal() + "\n";
    return result;
}

Result list_keys(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "KEY", "ROLE", "STATE", "CREATED", "LAST USED", "EXPIRES", "NAME"});
    for (const auto& key : all_keys(in, in.organization())) {
        result.json.append(key_json(key));
        table.add({key.id.text(), "org_..." + key.last_four, std::string(text_of(key.role)),
                   state_of(key), time_cell(key.created_at), time_cell(key.last_used_at),
                   time_cell(key.expires_at), key.name});
    }
    result.text = table.text();
    return result;
}

Result revoke_key(const Invocation& in) {
    const auto id = ApiKeyId::parse(in.required("--id"));
    if (!id) throw invalid_value("--id", in.required("--id"), "an id of `musterctl key list`");
    const OrgId organization = in.organization();
    const auto keys = all_keys(in, organization);
    const auto found = std::ranges::find(keys, *id, &rules::ApiKey::id);
    if (found == keys.end() || found->revoked_at) throw no_active_key(*id);
    in.confirm(revoke_question("org_..." + found->last_four, found->name));
    if (!service::revoke_api_key(in.context, organization, *id)) throw no_active_key(*id);
    return revoked(id->text());
}

}  // namespace muster::ctl
