#include "service/connections/provider_client.hpp"

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "base/settings.hpp"
#include "net/oauth.hpp"
#include "rules/seal_names.hpp"

#include <variant>

namespace muster::service {
namespace {

using Kind = rules::TokenFailure::Kind;

// An invalid code that identifies the check in the provider's log.
constexpr const char* kNoCode = "muster-provider-check";

OAuthRequest invalid_code_request(const Settings& settings, const rules::OAuthClient& client) {
    const rules::AuthorizationRequest request = {.redirect_uri = callback_url(settings),
                                                 .state = "",
                                                 .verifier = create_random_text().reveal()};
    return rules::code_request(client, request, kNoCode);
}

// Whether the failure carries an error code of the provider's token endpoint.
bool is_provider_error(const rules::TokenFailure& failure) {
    const bool is_ours = failure.code.starts_with("http_") || failure.code == "no_json" ||
                         failure.code == "redirect" || failure.code == "invalid_answer";
    return !is_ours;
}

void set_verdict(const rules::Provider& provider, const rules::TokenFailure& failure,
                 ProviderCheck& check) {
    check.code = failure.code;
    switch (failure.kind) {
        case Kind::Refused:
        case Kind::Revoked:
            check.verdict = ProviderVerdict::Accepted;
            check.text = "answers, and accepts client_id and client_secret";
            return;
        case Kind::Misconfigured:
            check.verdict = ProviderVerdict::Failed;
            check.text = "answers, but does not accept client_id, client_secret or the callback";
            return;
        case Kind::Unavailable:
            break;
    }
    const bool is_undecided = is_provider_error(failure);
    check.verdict = is_undecided ? ProviderVerdict::Undecided : ProviderVerdict::Failed;
    check.text = is_undecided ? "answers, but says nothing about client_id and client_secret"
                              : rules::failure_text(provider, failure);
}

}  // namespace

std::string callback_url(const Settings& settings) {
    return settings.console.origin + "/v1/external-data/callback";
}

std::optional<rules::OAuthClient> client_of(const ProvidersSettings& settings,
                                            std::string_view provider, std::string_view host) {
    const rules::Provider* row = rules::find_provider(provider);
    if (!row || !rules::missing_settings(*row, settings).empty()) return std::nullopt;
    return rules::oauth_client(*row, settings, host);
}

TokenReply request_tokens(const rules::Provider& provider, const OAuthRequest& request) {
    const OAuthReply reply = net::call_oauth(request);
    if (!reply.was_received()) {
        return {rules::TokenFailure{rules::TokenFailure::Kind::Unavailable, reply.failure}, false};
    }
    return {rules::read_token_answer(provider, reply.status, reply.body.reveal()), true};
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

RevokeReply revoke_tokens(const rules::OAuthClient& client, const KeptTokens& tokens) {
    if (client.revoke_url.empty()) return {RevokeResult::Done, "nowhere", true};
    const Secret& token = rules::token_to_revoke(*client.provider, tokens.access, tokens.refresh);
    const OAuthReply reply = net::call_oauth(rules::revocation_request(client, token));
    if (!reply.was_received()) return {RevokeResult::Failed, reply.failure, false};
    const auto failure =
        rules::revocation_failure(*client.provider, reply.status, reply.body.reveal());
    if (failure) return {RevokeResult::Failed, *failure, true};
    const bool is_success = reply.status >= 200 && reply.status <= 299;
    return {RevokeResult::Done, is_success ? "" : "http_" + std::to_string(reply.status), true};
}

std::string merged_details(std::string_view before,
                           const std::map<std::string, std::string>& details) {
    Json::Value json;
    if (!parse_json(before, json) || !json.isObject()) json = Json::Value(Json::objectValue);
    for (const auto& [name, value] : details) json[name] = value;
    return json_text(json);
}

// ---------------------------------------------------------------------------- the operator's check

ProviderCheck check_provider(const Settings& settings, const rules::Provider& provider) {
    const rules::OAuthClient client = rules::oauth_client(provider, settings.providers, "");
    ProviderCheck check;
    const auto& own = settings.providers.find(provider.id)->second;
    const std::string_view configured = own.token_url.empty() ? provider.token_url : own.token_url;
    if (provider.host.source == rules::HostSource::Settings &&
        configured.find("{host}") != std::string_view::npos) {
        check.verdict = ProviderVerdict::Unchecked;
        check.text = "is ready; each connection has its own host";
        return check;
    }
    const OAuthRequest request = invalid_code_request(settings, client);
    check.url = request.url;
    const OAuthReply reply = net::call_oauth(request);
    if (!reply.was_received()) {
        check.code = reply.failure;
        check.text = rules::failure_text(provider, {Kind::Unavailable, reply.failure});
        return check;
    }
    check.status = reply.status;
    const auto answer = rules::read_token_answer(provider, reply.status, reply.body.reveal());
    if (const auto* failure = std::get_if<rules::TokenFailure>(&answer)) {
        set_verdict(provider, *failure, check);
    } else {
        check.code = "token";
        check.text = "returns tokens for a code that it did not issue";
    }
    return check;
}

}  // namespace muster::service
