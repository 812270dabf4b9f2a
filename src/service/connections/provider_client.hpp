// Calls to providers, encryption of their tokens, and the operator's check of a provider
// (`musterctl provider list` and `check`).
#pragma once

#include "base/names.hpp"
#include "base/sealing.hpp"
#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster {
struct Settings;
}

namespace muster::service {

using muster::text_of;

// The redirect URI, which the operator registers at each provider.
[[nodiscard]] std::string callback_url(const Settings& settings);

// The configured OAuth client of a provider; nullopt if the provider is unknown or not set up.
std::optional<rules::OAuthClient> client_of(const ProvidersSettings& settings,
                                            std::string_view provider, std::string_view host);

struct TokenReply {
    rules::TokenAnswer answer;
    bool was_reached = false;  // false: the provider did not answer
};
// Requests tokens from the provider's token endpoint.
TokenReply request_tokens(const rules::Provider& provider, const OAuthRequest& request);

struct KeptTokens {
    Secret access;
    std::optional<Secret> refresh;
};
std::string seal_tokens(const KeyRing& keys, const OrgId& organization, const ConnectionId& id,
                        const KeptTokens& tokens);
// The decrypted tokens; nullopt if there are none or this key cannot decrypt them.
std::optional<KeptTokens> open_tokens(const KeyRing& keys, const OrgId& organization,
                                      const ConnectionId& id, std::string_view sealed);

enum class RevokeResult : std::uint8_t {
    Done,    // revoked, or there was nothing to revoke
    Failed,  // a later attempt may succeed
};
struct RevokeReply {
    RevokeResult result = RevokeResult::Failed;
    // For the log: the reason of a failure; "nowhere" if the provider has no revocation endpoint;
    // an error status that counts as done; otherwise "".
    std::string code;
    bool was_reached = false;
};
// Revokes the tokens at the provider, if it has a revocation endpoint.
RevokeReply revoke_tokens(const rules::OAuthClient& client, const KeptTokens& tokens);

// `before` (a JSON object) with the members of `details` added or replaced.
std::string merged_details(std::string_view before,
                           const std::map<std::string, std::string>& details);

// ---------------------------------------------------------------------------- the operator's check

enum class ProviderVerdict : std::uint8_t {
    Accepted,   // it answered and accepts the client
    Undecided,  // it answered without evaluating the client credentials
    Unchecked,  // the endpoint depends on the connection
    Failed,     // it did not answer like a token endpoint, or rejects the client
};

struct ProviderCheck {
    ProviderVerdict verdict = ProviderVerdict::Failed;
    std::string url;   // the URL called; "" if none was
    int status = 0;    // of the answer; 0: no answer
    std::string code;  // the provider's error code, or the reason for no answer
    std::string text;  // for the operator
};

// Calls the token endpoint of a configured provider with an invalid code and derives the verdict
// from the answer. Changes nothing at the provider. Uses no database.
[[nodiscard]] ProviderCheck check_provider(const Settings& settings,
                                           const rules::Provider& provider);

}  // namespace muster::service

namespace muster {

template <>
inline constexpr std::array kNames<service::ProviderVerdict> = {
    Name{service::ProviderVerdict::Accepted, "accepted"},
    Name{service::ProviderVerdict::Undecided, "undecided"},
    Name{service::ProviderVerdict::Unchecked, "unchecked"},
    Name{service::ProviderVerdict::Failed, "failed"}};

}  // namespace muster
