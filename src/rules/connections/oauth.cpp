// The requests and their schedule. oauth_answers.cpp reads the replies.
#include "rules/connections/oauth.hpp"

#include "base/crypto.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

using Parameters = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view kHostPlace = "{host}";
constexpr std::size_t kLongestLabel = 63;

constexpr Milliseconds kAhead = std::chrono::minutes(15);
constexpr Milliseconds kAtLeast = std::chrono::hours(24);
constexpr Milliseconds kShortLife = std::chrono::minutes(30);
// A provider cannot make the runner refresh more often than this.
constexpr Milliseconds kAtMost = std::chrono::minutes(1);

std::string with_host(std::string_view url, std::string_view host) {
    std::string text(url);
    if (const auto place = text.find(kHostPlace); place != std::string::npos) {
        text.replace(place, kHostPlace.size(), host);
    }
    return text;
}

// The configured URL, or the row's if none is configured.
std::string url_of(std::string_view configured, std::string_view row, std::string_view host) {
    return with_host(configured.empty() ? row : configured, host);
}

// SCHEME://HOST[:PORT]
std::string origin_of(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    return std::string(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

std::string joined(std::string_view scopes, char separator) {
    std::string text;
    for (const std::string_view scope : split(scopes, ' ')) {
        if (scope.empty()) continue;
        if (!text.empty()) text += separator;
        text += scope;
    }
    return text;
}

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= kLongestLabel && text.front() != '-' &&
           text.back() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
           });
}

std::string encoded(const Parameters& parameters) {
    std::string text;
    for (const auto& [name, value] : parameters) {
        if (!text.empty()) text += '&';
        text.append(percent_encoded(name)).append("=").append(percent_encoded(value));
    }
    return text;
}

std::string as_json(const Parameters& parameters) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    for (const auto& [name, value] : parameters) {
        json.key(name);
        json.string(value);
    }
    json.end_object();
    return text;
}

void append(Parameters& to, const std::array<Parameter, kMostParameters>& extra) {
    for (const Parameter& parameter : extra) {
        if (!parameter.name.empty()) to.emplace_back(parameter.name, parameter.value);
    }
}

// RFC 6749 section 2.3.1: both are encoded before they are joined.
std::string basic(const OAuthClient& client) {
    const Secret pair(percent_encoded(client.client_id) + ":" +
                      percent_encoded(client.client_secret.reveal()));
    return "Basic " + to_base64(pair.reveal());
}

OAuthRequest post(const OAuthClient& client, const std::string& url, TokenBody form,
                  const Parameters& parameters) {
    const bool is_json = form == TokenBody::Json;
    OAuthRequest request;
    request.url = url;
    request.headers = {
        {"Accept", "application/json"},
        {"Content-Type", is_json ? "application/json" : "application/x-www-form-urlencoded"}};
    request.body = Secret(is_json ? as_json(parameters) : encoded(parameters));
    request.ca_file = client.ca_file;
    return request;
}

// Adds the client's credentials in the way that the provider's row requires.
OAuthRequest post_as_client(const OAuthClient& client, const std::string& url, TokenBody form,
                            Parameters parameters) {
    const bool is_basic = client.provider->client_auth == ClientAuth::Basic;
    if (!is_basic) {
        parameters.emplace_back("client_id", client.client_id);
        parameters.emplace_back("client_secret", client.client_secret.reveal());
    }
    OAuthRequest request = post(client, url, form, parameters);
    if (is_basic) request.headers.emplace_back("Authorization", basic(client));
    return request;
}

struct Phrase {
    std::string_view code;
    std::string_view text;  // after the provider's name
};
constexpr std::array kPhrases = {
    Phrase{"timeout", " did not answer in time."},
    Phrase{"resolve", "'s address was not found."},
    Phrase{"connect", " could not be reached."},
    Phrase{"tls", "'s certificate could not be verified."},
    Phrase{"broken", " closed the connection."},
    Phrase{"redirect", " replied with a redirect to another address."},
    Phrase{"too_large", " sent a reply that is too large for a token."},
    Phrase{"no_json", " sent a reply without a valid token."},
    Phrase{"invalid_answer", " sent a reply without a valid token."},
    Phrase{"http_429", " received too many requests."},
};

std::string_view unavailable_text(std::string_view code) {
    const auto* found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                     [&](const Phrase& phrase) { return phrase.code == code; });
    if (found != kPhrases.end()) return found->text;
    return code.starts_with("http_5") ? " reported an internal error." : " returned no token.";
}

}  // namespace

std::string missing_settings(const Provider& provider, const ProvidersSettings& settings) {
    const auto found = settings.find(provider.id);
    const bool has_id = found != settings.end() && !found->second.client_id.empty();
    const bool has_secret = found != settings.end() && !found->second.client_secret.empty();
    if (has_id && has_secret) return "";
    const std::string section = "[providers." + std::string(provider.id) + "]";
    if (has_id) return "client_secret is not set in " + section;
    if (has_secret) return "client_id is not set in " + section;
    return "client_id and client_secret are not set in " + section;
}

std::optional<std::string> settings_host(const HostRule& rule, std::string_view text) {
    std::string host(trimmed(text));
    ascii_lower(host);
    std::string_view label = host;
    if (label.ends_with(rule.suffix)) label.remove_suffix(rule.suffix.size());
    if (!is_label(label)) return std::nullopt;
    return std::string(label).append(rule.suffix);
}

OAuthClient oauth_client(const Provider& provider, const ProvidersSettings& settings,
                         std::string_view host) {
    const ProviderSettings& own = settings.find(provider.id)->second;
    if (provider.host.source == HostSource::Configuration) {
        host = own.host.empty() ? provider.host.fallback : std::string_view(own.host);
    }
    OAuthClient client;
    client.provider = &provider;
    client.client_id = own.client_id;
    client.client_secret = own.client_secret;
    client.authorize_url = url_of(own.authorize_url, provider.authorize_url, host);
    client.token_url = url_of(own.token_url, provider.token_url, host);
    // A provider without a look-up or revocation ignores the configured address. The row's own
    // addresses are not used for a configured server: its tokens must not be sent to the row's
    // server.
    const bool is_rows_server = own.token_url.empty();
    if (!provider.lookup_url.empty()) {
        client.lookup_url = url_of(own.lookup_url, is_rows_server ? provider.lookup_url : "", host);
    }
    if (provider.revocation != Revocation::None) {
        client.revoke_url = url_of(own.revoke_url, is_rows_server ? provider.revoke_url : "", host);
    }
    client.issuer = url_of(own.issuer, own.authorize_url.empty() ? provider.issuer : "", host);
    if (client.issuer.empty()) client.issuer = origin_of(client.authorize_url);
    client.scopes =
        joined(own.scopes.empty() ? provider.scopes : own.scopes, provider.scope_separator);
    client.ca_file = own.ca_file;
    return client;
}

std::string authorization_url(const OAuthClient& client, const AuthorizationRequest& request) {
    Parameters parameters = {{"response_type", "code"},
                             {"client_id", client.client_id},
                             {"redirect_uri", request.redirect_uri}};
    if (!client.scopes.empty()) parameters.emplace_back("scope", client.scopes);
    parameters.emplace_back("state", request.state);
    const std::string challenge = to_base64url(sha256(request.verifier));
    if (client.provider->pkce == Pkce::S256) {
        parameters.emplace_back("code_challenge", challenge);
        parameters.emplace_back("code_challenge_method", "S256");
    }
    append(parameters, client.provider->extra);
    std::string url = client.authorize_url;
    const bool has_query = url.find('?') != std::string::npos;
    if (!url.ends_with('?') && !url.ends_with('&')) url += has_query ? '&' : '?';
    return url + encoded(parameters);
}

OAuthRequest code_request(const OAuthClient& client, const AuthorizationRequest& request,
                          std::string_view code) {
    Parameters parameters = {{"grant_type", "authorization_code"},
                             {"code", code},
                             {"redirect_uri", request.redirect_uri}};
    if (client.provider->pkce == Pkce::S256) {
        parameters.emplace_back("code_verifier", request.verifier);
    }
    append(parameters, client.provider->code_extra);
    return post_as_client(client, client.token_url, client.provider->token_body,
                          std::move(parameters));
}

OAuthRequest refresh_request(const OAuthClient& client, const Secret& refresh_token) {
    return post_as_client(
        client, client.token_url, client.provider->token_body,
        {{"grant_type", "refresh_token"}, {"refresh_token", refresh_token.reveal()}});
}

OAuthRequest lookup_request(const OAuthClient& client, const Secret& access_token) {
    OAuthRequest request;
    request.url = client.lookup_url;
    request.headers = {{"Accept", "application/json"},
                       {"Authorization", "OAuth " + access_token.reveal()}};
    request.ca_file = client.ca_file;
    return request;
}

const Secret& token_to_revoke(const Provider& provider, const Secret& access_token,
                              const std::optional<Secret>& refresh_token) {
    const bool is_refresh = provider.revoked_token == RevokedToken::Refresh && refresh_token;
    return is_refresh ? *refresh_token : access_token;
}

OAuthRequest revocation_request(const OAuthClient& client, const Secret& token) {
    const Revocation how = client.provider->revocation;
    const Parameters parameters = {{"token", token.reveal()}};
    if (how == Revocation::Token) {
        return post(client, client.revoke_url, TokenBody::Form, parameters);
    }
    return post_as_client(client, client.revoke_url,
                          how == Revocation::Json ? TokenBody::Json : TokenBody::Form, parameters);
}

std::string failure_text(const Provider& provider, const TokenFailure& failure) {
    const std::string name(provider.name);
    const std::string code = " (" + failure.code + ")";
    switch (failure.kind) {
        case TokenFailure::Kind::Refused:
            return name + " no longer accepts this authorization" + code + ". Connect it again.";
        case TokenFailure::Kind::Revoked:
            return "The access was withdrawn at " + name + code + ". Connect it again.";
        case TokenFailure::Kind::Misconfigured:
            return name + " does not accept this installation of Muster" + code +
                   ". Its operator must check the configuration of " + name + ".";
        case TokenFailure::Kind::Unavailable:
            break;
    }
    std::string text = name;
    text += unavailable_text(failure.code);
    text.insert(text.size() - 1, code);
    return text;
}

std::optional<Timestamp> refresh_due(bool can_refresh, const std::optional<Milliseconds>& life,
                                     Timestamp now) {
    if (!can_refresh) return life ? std::optional(now + *life) : std::nullopt;
    if (!life) return now + kAtLeast;
    const Milliseconds ahead = *life < kShortLife ? *life / 2 : *life - kAhead;
    return now + std::clamp(ahead, kAtMost, kAtLeast);
}

Milliseconds refresh_back_off(int attempts) {
    constexpr std::array kMinutes = {1, 5, 15, 60};
    const auto step = static_cast<std::size_t>(std::max(attempts, 1) - 1);
    return std::chrono::minutes(kMinutes[std::min(step, kMinutes.size() - 1)]);
}

}  // namespace muster::rules
