// OAuth 2.0 as a client, without a wire: the authorization request's address (RFC 6749 section 4.1,
// PKCE of RFC 7636), token requests, and what a token endpoint's answer means, with the providers'
// quirks from their rows (rules/connections/providers.hpp). net/oauth.hpp does the calling.
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

// "" for a provider that connections can be made to, else what the operator has not set.
[[nodiscard]] std::string unready_reason(const Provider& provider,
                                         const ProvidersSettings& settings);

// The host that an admin's settings name, whole ("acme" and "acme.myshopify.com" are one); nullopt
// for one that is none of the provider's.
[[nodiscard]] std::optional<std::string> settings_host(const HostRule& rule, std::string_view text);

// A provider as this installation speaks to it: the row, with the configuration's values and the
// host in their places.
struct OAuthClient {
    const Provider* provider = nullptr;
    std::string client_id;
    Secret client_secret;
    std::string authorize_url;
    std::string token_url;
    // "" = none. A server that the configuration names in the row's place has those that the
    // configuration names with it.
    std::string lookup_url;
    std::string revoke_url;
    std::string issuer;
    std::string scopes;  // as they go on the wire
    std::string ca_file;
};
// `host`: the connection's own, "" where the row has none from settings. Only for a provider that
// is ready.
[[nodiscard]] OAuthClient oauth_client(const Provider& provider, const ProvidersSettings& settings,
                                       std::string_view host);

struct AuthorizationRequest {
    std::string redirect_uri;
    std::string state;
    std::string verifier;  // 43 to 128 characters of RFC 7636; not sent where there is no PKCE
};
[[nodiscard]] std::string authorization_url(const OAuthClient& client,
                                            const AuthorizationRequest& request);

[[nodiscard]] OAuthRequest code_request(const OAuthClient& client,
                                        const AuthorizationRequest& request, std::string_view code);
[[nodiscard]] OAuthRequest refresh_request(const OAuthClient& client, const Secret& refresh_token);
// Of a row with a look-up, and of one with a revocation.
[[nodiscard]] OAuthRequest lookup_request(const OAuthClient& client, const Secret& access_token);
// Which of a connection's tokens is given back, where the row has a revocation.
[[nodiscard]] const Secret& token_to_revoke(const Provider& provider, const Secret& access_token,
                                            const std::optional<Secret>& refresh_token);
[[nodiscard]] OAuthRequest revocation_request(const OAuthClient& client, const Secret& token);

// What was granted. Kept details are texts that the row names, each at most 255 bytes without
// control characters; others are left out.
struct Tokens {
    Secret access_token;
    std::optional<Secret> refresh_token;         // nullopt: the one before stays, if there is one
    std::optional<Milliseconds> life;            // of the access token; nullopt: endless
    std::map<std::string, std::string> details;  // "scope" too, as it was granted
};
// Why there are none.
struct TokenFailure {
    enum class Kind : std::uint8_t {
        Refused,        // the grant is no good, and will not be
        Revoked,        // the access was taken back
        Misconfigured,  // we are not accepted as a client: the operator's business
        Unavailable,    // anything else: it may be different later
    };
    Kind kind = Kind::Unavailable;
    std::string code;  // the provider's or ours, [a-z0-9_.-]{1,64}
};
using TokenAnswer = std::variant<Tokens, TokenFailure>;

// A provider's error code in lower case, [a-z0-9_.-]{1,64}; "" for what is none: an error may be a
// whole sentence, with who knows what in it.
[[nodiscard]] std::string plain_error_code(std::string_view text);
// Whether what a provider told is a text that is kept with a connection (see Tokens::details).
[[nodiscard]] bool is_kept_detail(std::string_view text);

// Reads an answer strictly: whatever is no token is a failure. An error counts in a 200 as well
// (Slack's ok:false, GitHub's error).
[[nodiscard]] TokenAnswer read_token_answer(const Provider& provider, int status,
                                            std::string_view body);
// What the row's look-up found; nullopt where a field is missing.
[[nodiscard]] std::optional<std::map<std::string, std::string>> read_lookup_answer(
    const Provider& provider, int status, std::string_view body);

// What an admin is told, with the provider's name: at most 255 characters, never a word of the
// provider's save the code.
[[nodiscard]] std::string failure_text(const Provider& provider, const TokenFailure& failure);

// When tokens that came at `now` and live for `life` are refreshed: 15 minutes ahead, at least
// daily and at most each minute; where they cannot be, when they end. nullopt: never.
[[nodiscard]] std::optional<Timestamp> refresh_due(bool can_refresh,
                                                   const std::optional<Milliseconds>& life,
                                                   Timestamp now);
// How long after a failed attempt the next one comes; `attempts`: how many failed, this one too.
[[nodiscard]] Milliseconds refresh_back_off(int attempts);

}  // namespace muster::rules
