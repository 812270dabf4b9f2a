#include "service/connections/provider_client.hpp"

#include "base/json.hpp"
#include "net/oauth.hpp"
#include "rules/seal_names.hpp"

namespace muster::service {

Answered ask_provider(const rules::OAuthRequest& request) {
    net::OAuthReply reply =
        net::call_oauth({request.url, request.headers, request.body, request.ca_file});
    return {reply.status, std::move(reply.body), std::move(reply.failure)};
}

TokensAnswered ask_for_tokens(const rules::Provider& provider, const rules::OAuthRequest& request) {
    const Answered answered = ask_provider(request);
    if (!answered.failure.empty()) {
        const rules::TokenFailure failure{rules::TokenFailure::Kind::Unavailable, answered.failure};
        return {failure, false};
    }
    return {rules::read_token_answer(provider, answered.status, answered.body.reveal()), true};
}

std::string seal_tokens(const KeyRing& keys, const OrgId& organization, const ConnectionId& id,
                        const KeptTokens& tokens) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.key("access_token");
    json.string(tokens.access.reveal());
    if (tokens.refresh) {
        json.key("refresh_token");
        json.string(tokens.refresh->reveal());
    }
    json.end_object();
    const Secret document(std::move(text));
    return keys.seal(document.reveal(), rules::connection_seal_name(organization, id));
}

std::optional<KeptTokens> open_tokens(const KeyRing& keys, const OrgId& organization,
                                      const ConnectionId& id, std::string_view sealed) {
    if (sealed.empty()) return std::nullopt;
    const auto document = keys.open(sealed, rules::connection_seal_name(organization, id));
    Json::Value json;
    if (!document || !parse_json(document->reveal(), json) || !json.isObject()) return std::nullopt;
    const Json::Value& access = json["access_token"];
    const Json::Value& refresh = json["refresh_token"];
    if (!access.isString()) return std::nullopt;
    KeptTokens tokens{Secret(access.asString()), std::nullopt};
    if (refresh.isString()) tokens.refresh = Secret(refresh.asString());
    return tokens;
}

GiveBackAnswered give_back_tokens(const rules::OAuthClient& client, const KeptTokens& tokens) {
    if (client.revoke_url.empty()) return {GivenBack::Done, "nowhere", true};
    const Secret& token = rules::token_to_revoke(*client.provider, tokens.access, tokens.refresh);
    const Answered answered = ask_provider(rules::revocation_request(client, token));
    if (!answered.failure.empty()) return {GivenBack::NotYet, answered.failure, false};
    const int status = answered.status;
    const std::string code = "http_" + std::to_string(status);
    if (status >= 200 && status < 300) return {GivenBack::Done, "", true};
    // It knows no such token (any more). The others say that we did not get through.
    const bool is_unknown = status == 400 || status == 404 || status == 410 || status == 422;
    return {is_unknown ? GivenBack::Done : GivenBack::NotYet, code, true};
}

std::string merged_details(std::string_view before,
                           const std::map<std::string, std::string>& details) {
    Json::Value json;
    if (!parse_json(before, json) || !json.isObject()) json = Json::Value(Json::objectValue);
    for (const auto& [name, value] : details) json[name] = value;
    return json_text(json);
}

}  // namespace muster::service
