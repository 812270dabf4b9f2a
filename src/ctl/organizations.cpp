// musterctl org, key.
#include "service/access/organizations.hpp"

#include "ctl/command.hpp"
#include "ctl/key_options.hpp"
#include "service/access/api_keys.hpp"

namespace muster::ctl {
namespace {

Json::Value key_json(const rules::ApiKey& key) {
    Json::Value json;
    json["id"] = key.id.text();
    json["organization_id"] = key.organization_id.text();
    json["name"] = key.name;
    json["prefix"] = "org_";
    json["last_four"] = key.last_four;
    json["rate_limit_per_second"] = number_json(key.rate_per_second);
    json["burst"] = number_json(key.burst);
    json["created_at"] = key.created_at.text();
    json["last_used_at"] = time_json(key.last_used_at);
    json["expires_at"] = time_json(key.expires_at);
    json["revoked_at"] = time_json(key.revoked_at);
    return json;
}

std::vector<rules::ApiKey> all_keys(const Invocation& in) {
    constexpr int kPage = 1000;
    std::vector<rules::ApiKey> all;
    for (std::optional<ApiKeyId> after;; after = all.back().id) {
        auto page = service::list_api_keys(in.context, in.organization(), after, kPage);
        all.insert(all.end(), page.begin(), page.end());
        if (page.size() < kPage) return all;
    }
}

}  // namespace

Result create_org(const Invocation& in) {
    const auto organization = service::create_organization(in.context, in.required("--name"));
    Result result;
    result.json["id"] = organization.id.text();
    result.json["name"] = organization.name;
    result.json["created_at"] = organization.created_at.text();
    result.text = organization.id.text() + "\n";
    return result;
}

Result list_orgs(const Invocation& in) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const auto& organization : service::list_organizations(in.context)) {
        Json::Value entry;
        entry["id"] = organization.id.text();
        entry["name"] = organization.name;
        entry["created_at"] = organization.created_at.text();
        result.json.append(std::move(entry));
        result.text += organization.id.text() + "  " + organization.name + "\n";
    }
    return result;
}

Result issue_key(const Invocation& in) {
    const auto expires_at = expiry_option(in);
    service::require_organization(in.context, in.organization());
    const auto issued = service::issue_api_key(
        in.context, in.organization(),
        {in.required("--name"), expires_at, rate_option(in, "--rate"), rate_option(in, "--burst")});
    Result result;
    result.json = key_json(issued.key);
    result.json["key"] = issued.secret.reveal();
    result.text = issued.secret.reveal() + "\n";
    return result;
}

Result list_keys(const Invocation& in) {
    service::require_organization(in.context, in.organization());
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const auto& key : all_keys(in)) {
        result.json.append(key_json(key));
        result.text += key.id.text() + "  org_..." + key.last_four + "  " + state_of(key) + "  " +
                       key.name + "\n";
    }
    return result;
}

Result revoke_key(const Invocation& in) {
    const auto id = ApiKeyId::parse(in.required("--id"));
    if (!id) throw invalid_value("--id", in.required("--id"), "an id of `musterctl key list`");
    if (!service::revoke_api_key(in.context, in.organization(), *id)) {
        throw CommandError("there is no such key in this organization that is not revoked");
    }
    return revoked(id->text());
}

}  // namespace muster::ctl
