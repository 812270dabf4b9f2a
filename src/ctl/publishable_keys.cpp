// musterctl tracking-key, content-key.
#include "service/pages/publishable_keys.hpp"

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/key_options.hpp"
#include "service/access/organizations.hpp"

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
    return {words.begin(), words.end()};
}

Result issue(const Invocation& in, PublishableKeyKind kind) {
    service::NewPublishableKey fields{in.required("--name"), origins_option(in), expiry_option(in),
                                      std::nullopt, std::nullopt};
    if (kind == PublishableKeyKind::Tracking) {
        fields.rate_per_second = rate_option(in, "--rate");
        fields.burst = rate_option(in, "--burst");
    }
    service::require_organization(in.context, in.organization());
    const auto key = service::issue_publishable_key(in.context, in.organization(), kind, fields);
    Result result;
    result.json = key_json(key);
    result.text = key.token + "\n";
    return result;
}

std::vector<PublishableKey> all_keys(const Invocation& in, PublishableKeyKind kind) {
    constexpr int kPage = 1000;
    std::vector<PublishableKey> all;
    for (std::optional<PublishableKeyId> after;; after = all.back().id) {
        auto page =
            service::list_publishable_keys(in.context, in.organization(), kind, after, kPage);
        all.insert(all.end(), page.begin(), page.end());
        if (page.size() < kPage) return all;
    }
}

Result list(const Invocation& in, PublishableKeyKind kind) {
    service::require_organization(in.context, in.organization());
    Result result;
    result.json = Json::Value(Json::arrayValue);
    for (const auto& key : all_keys(in, kind)) {
        result.json.append(key_json(key));
        result.text += key.id.text() + "  " + key.token + "  " + state_of(key) + "  " + key.name;
        for (const std::string& origin : key.allowed_origins) result.text += "  " + origin;
        result.text += "\n";
    }
    return result;
}

Result revoke(const Invocation& in, PublishableKeyKind kind) {
    const auto id = PublishableKeyId::parse(in.required("--id"));
    if (!id) {
        throw invalid_value("--id", in.required("--id"),
                            "an id of `musterctl " + std::string(text_of(kind)) + "-key list`");
    }
    if (!service::revoke_publishable_key(in.context, in.organization(), kind, *id)) {
        throw CommandError("there is no such key in this organization that is not revoked");
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
