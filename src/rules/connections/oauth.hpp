// An OAuth 2.0 client without network access: the authorization URL (RFC 6749 section 4.1, PKCE of
// RFC 7636), token requests, and the interpretation of replies. The rows of
// rules/connections/providers.hpp give the differences between providers. net/oauth.hpp sends the
// requests.
#pragma once

#include "base/oauth.hpp"
#include "base/secret.hpp"
#include "base/settings/providers.hpp"
#include "base/time.hpp"
#include "rules/connections/providers.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace muster::rules {

// "" if connections to this provider can be made, otherwise the settings that are missing.
[[nodiscard]] std::string missing_settings(const Provider& provider,
                                           const ProvidersSettings& settings);

// The full host from an admin's settings: "acme" and "acme.myshopify.com" are equal. nullopt for a
// host that does not belong to the provider.
[[nodiscard]] std::optional<std::string> settings_host(const HostRule& rule, std::string_view text);

// A provider as configured in this installation: its row, with the configured values and the host
// filled in.
struct OAuthClient {
    const Provider* provider = nullptr;
    std::string client_id;
    Secret client_secret;
    std::string authorize_url;
    std::string token_url;
    // "" = none. If the configuration replaces the row's server, only configured URLs are used
    // here.
    std::string lookup_url;
    std::string revoke_url;
    std::string issuer;
    std::string scopes;  // as sent to the provider
    std::string ca_file;
};
// `host`: the host of the connection; "" if the row takes no host from settings. The provider must
// be ready.
[[nodiscard]] OAuthClient oauth_client(const Provider& provider, const ProvidersSettings& settings,
                                       std::string_view host);

struct AuthorizationRequest {
    std::string redirect_uri;
    std::string state;
    std::string verifier;  // 43 to 128 characters of RFC 7636; not sent without PKCE
};
// The URL of the provider's consent page.
[[nodiscard]] std::string authorization_url(const OAuthClient& client,
                                            const AuthorizationRequest& request);

// The request that exchanges a code for tokens.
[[nodiscard]] OAuthRequest code_request(const OAuthClient& client,
                                        const AuthorizationRequest& request, std::string_view code);
// The request that refreshes the tokens.
[[nodiscard]] OAuthRequest refresh_request(const OAuthClient& client, const Secret& refresh_token);
// Requires a row with a look-up or a revocation, respectively.
[[nodiscard]] OAuthRequest lookup_request(const OAuthClient& client, const Secret& access_token);
// The token to revoke, for a row with a revocation.
[[nodiscard]] const Secret& token_to_revoke(const Provider& provider, const Secret& access_token,
                                            const std::optional<Secret>& refresh_token);
[[nodiscard]] OAuthRequest revocation_request(const OAuthClient& client, const Secret& token);

// Granted tokens. Details are texts that the row names, each at most 255 bytes without control
// characters; others are dropped.
struct Tokens {
    Secret access_token;
    std::optional<Secret> refresh_token;         // nullopt: keep the previous one, if any
    std::optional<Milliseconds> life;            // of the access token; nullopt: it does not expire
    std::map<std::string, std::string> details;  // includes "scope" as granted
};
// The reason why no tokens were granted.
struct TokenFailure {
    enum class Kind : std::uint8_t {
        Refused,        // the grant is invalid, permanently
        Revoked,        // access was withdrawn
        Misconfigured,  // the client was rejected: the operator must act
        Unavailable,    // anything else: may be temporary
    };
    Kind kind = Kind::Unavailable;
    std::string code;  // a known code of the provider, or Muster's: [a-z0-9_]{1,64}
};
using TokenAnswer = std::variant<Tokens, TokenFailure>;

// A provider's error code in lower case, if it is a standard code or one of the provider's row. ""
// for any other text: it could hold a token, or a message that somebody else wrote.
[[nodiscard]] std::string known_error_code(const Provider& provider, std::string_view text);
// True if a text from a provider may be stored with a connection (see Tokens::details).
[[nodiscard]] bool is_kept_detail(std::string_view text);

// Reads a reply strictly: a reply without a valid token is a failure. An error in a 200 is also a
// failure (Slack's ok:false, GitHub's error).
[[nodiscard]] TokenAnswer read_token_answer(const Provider& provider, int status,
                                            std::string_view body);
// The values of the row's look-up; nullopt if a field is missing.
[[nodiscard]] std::optional<std::map<std::string, std::string>> read_lookup_answer(
    const Provider& provider, int status, std::string_view body);
// Why a revocation failed: the provider's error code, or "http_500"; nullopt if the token is
// revoked or unknown to the provider. As with tokens, a 200 may report an error.
[[nodiscard]] std::optional<std::string> revocation_failure(const Provider& provider, int status,
                                                            std::string_view body);

// The message for an admin, with the provider's name: at most 255 characters. The only text from
// the provider is its error code.
[[nodiscard]] std::string failure_text(const Provider& provider, const TokenFailure& failure);

// When to refresh tokens that were received at `now` and live for `life`: 15 minutes before they
// expire, at least once a day, at most once a minute. If they cannot be refreshed: when they
// expire. nullopt: never.
[[nodiscard]] std::optional<Timestamp> refresh_due(bool can_refresh,
                                                   const std::optional<Milliseconds>& life,
                                                   Timestamp now);
// The delay of the next attempt. `attempts`: the number of failed attempts, including the last one.
[[nodiscard]] Milliseconds refresh_back_off(int attempts);

}  // namespace muster::rules
