// musterctl tracking-key, content-key.
#include "service/pages/publishable_keys.hpp"

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/key_options.hpp"
#include "ctl/table.hpp"
#include "rules/origins.hpp"

#include <algorithm>

namespace muster::ctl {
namespace {

using rules::PublishableKey;
using rules::PublishableKeyKind;

Json::Value key_json(const PublishableKey& key) {
    Json::Value json;
    json["id"] = key.id.text();
    json["organization_id"] = key.organization_id.text();
    json["name"] = key.name;
    json["key"] = key.token;
    json["allowed_origins"] = Json::Value(Json::arrayValue);
    for (const std::string& origin : key.allowed_origins) json["allowed_origins"].append(origin);
    if (key.kind == PublishableKeyKind::Tracking) {
        json["rate_limit_per_second"] = number_json(key.rate_per_second);
        json["burst"] = number_json(key.burst);
    }
    json["created_at"] = key.created_at.text();
    json["last_used_at"] = time_json(key.last_used_at);
    json["expires_at"] = time_json(key.expires_at);
    json["revoked_at"] = time_json(key.revoked_at);
    return json;
}

std::vector<std::string> origins_option(const Invocation& in) {
    const auto words = split(in.required("--origins"), ',');
    if (words.size() > service::kMostOrigins) {
        throw UsageError("--origins has " + std::to_string(words.size()) + " entries; use 1 to " +
                         std::to_string(service::kMostOrigins));
    }
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (rules::canonical_allowed_origin(words[at])) continue;
        throw invalid_value(
            "entry " + std::to_string(at + 1) + " of --origins", words[at],
            "an origin such as https://shop.example or https://*.shop.example, without a path");
    }
    return {words.begin(), words.end()};
}

Result issue(const Invocation& in, PublishableKeyKind kind) {
    service::NewPublishableKey fields{in.name(), origins_option(in), expiry_option(in),
                                      std::nullopt, std::nullopt};
    if (kind == PublishableKeyKind::Tracking) {
        fields.rate_per_second = rate_option(in, "--rate");
        fields.burst = rate_option(in, "--burst");
    }
    const auto key =
        service::issue_publishable_key(in.context, in.lasting_organization(), kind, fields);
    Result result;
    result.json = key_json(key);
    result.text = key.token + "\n";
    return result;
}

std::vector<PublishableKey> all_keys(const Invocation& in, OrgId organization,
                                     PublishableKeyKind kind) {
    constexpr int kPage = 1000;
    std::vector<PublishableKey> all;
    for (std::optional<PublishableKeyId> after;; after = all.back().id) {
        auto page = service::list_publishable_keys(in.context, organization, kind, after, kPage);
        all.insert(all.end(), page.begin(), page.end());
        if (page.size() < kPage) return all;
    }
}

Result list(const Invocation& in, PublishableKeyKind kind) {
    Result result;
    result.json = Json::Value(Json::arrayValue);
    Table table({"ID", "KEY", "STATE", "CREATED", "LAST USED", "EXPIRES", "NAME", "ORIGINS"});
    for (const auto& key : all_keys(in, in.organization(), kind)) {
        result.json.append(key_json(key));
        std::string origins;
        for (const std::string& origin : key.allowed_origins) {
            origins += (origins.empty() ? "" : ",") + origin;
        }
        table.add({key.id.text(), key.token, state_of(key), time_cell(key.created_at),
                   time_cell(key.last_used_at), time_cell(key.expires_at), key.name, origins});
    }
    result.text = table.text();
    return result;
}

Result revoke(const Invocation& in, PublishableKeyKind kind) {
    const auto id = PublishableKeyId::parse(in.required("--id"));
    if (!id) {
        throw invalid_value("--id", in.required("--id"),
                            "an id of `musterctl " + std::string(text_of(kind)) + "-key list`");
    }
    const OrgId organization = in.organization();
    const auto keys = all_keys(in, organization, kind);
    const auto found = std::ranges::find(keys, *id, &PublishableKey::id);
    if (found == keys.end() || found->revoked_at) throw no_active_key(*id);
    in.confirm(revoke_question(found->token, found->name));
    if (!service::revoke_publishable_key(in.context, organization, kind, *id)) {
        throw no_active_key(*id);
    }
    return revoked(id->text());
}

}  // namespace

Result issue_tracking_key(const Invocation& in) {
    return issue(in, PublishableKeyKind::Tracking);
}

Result list_tracking_keys(const Invocation& in) {
    return list(in, PublishableKeyKind::Tracking);
}

Result revoke_tracking_key(const Invocation& in) {
    return revoke(in, PublishableKeyKind::Tracking);
}

Result issue_content_key(const Invocation& in) {
    return issue(in, PublishableKeyKind::Content);
}

Result list_content_keys(const Invocation& in) {
    return list(in, PublishableKeyKind::Content);
}

Result revoke_content_key(const Invocation& in) {
    return revoke(in, PublishableKeyKind::Content);
}

}  // namespace muster::ctl
