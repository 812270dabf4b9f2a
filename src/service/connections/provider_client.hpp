// The calls of connections to their providers, their tokens under seal, and the operator's check of
// a provider (musterctl provider list, check; docs/external-data.md "Setting up a provider").
#pragma once

#include "base/sealing.hpp"
#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster {
struct Settings;
}

namespace muster::service {

// A provider as this installation speaks to it; nullopt where it is unknown or not set up.
std::optional<rules::OAuthClient> client_of(const ProvidersSettings& settings,
                                            std::string_view provider, std::string_view host);

struct TokenReply {
    rules::TokenAnswer answer;
    bool was_reached = false;  // false: the provider did not answer at all
};
// Asks for tokens.
TokenReply ask_for_tokens(const rules::Provider& provider, const OAuthRequest& request);

struct KeptTokens {
    Secret access;
    std::optional<Secret> refresh;
};
std::string seal_tokens(const KeyRing& keys, const OrgId& organization, const ConnectionId& id,
                        const KeptTokens& tokens);
// nullopt where there are none, or none that this key opens.
std::optional<KeptTokens> open_tokens(const KeyRing& keys, const OrgId& organization,
                                      const ConnectionId& id, std::string_view sealed);

enum class GivenBack : std::uint8_t {
    Done,    // or there was nothing left to give back
    NotYet,  // it may be different later
};
struct GiveBackReply {
    GivenBack result = GivenBack::NotYet;
    std::string code;  // why not
    bool was_reached = false;
};
// Gives tokens back at a provider whose row knows how, if there is an address that takes them.
GiveBackReply give_back_tokens(const rules::OAuthClient& client, const KeptTokens& tokens);

// The details of before, with others in their places.
std::string merged_details(std::string_view before,
                           const std::map<std::string, std::string>& details);

// ---------------------------------------------------------------------------- the operator's check

enum class ProviderVerdict : std::uint8_t {
    Accepted,   // it answered, and knows us as a client
    Undecided,  // it answered, but said nothing about who we are
    Unchecked,  // where it is is known with a connection alone
    Failed,     // it did not answer as such an endpoint does, or does not accept us
};
// "accepted" …
[[nodiscard]] std::string_view text_of(ProviderVerdict verdict);

struct ProviderCheck {
    ProviderVerdict verdict = ProviderVerdict::Failed;
    std::string url;   // that was asked; "" where none was
    int status = 0;    // of the answer; 0 = there was none
    std::string code;  // the provider's error code, or why there was no answer
    std::string text;  // for the operator
};

// Asks the token endpoint of a provider that is ready for tokens, with a code that it cannot have
// given, and reads the verdict from the answer. Nothing changes at the provider. Uses no database.
[[nodiscard]] ProviderCheck check_provider(const Settings& settings,
                                           const rules::Provider& provider);

}  // namespace muster::service
