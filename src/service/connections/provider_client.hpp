// What connections say to their providers, and what of it is kept: calls, and tokens under seal.
#pragma once

#include "base/sealing.hpp"
#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster::service {

// An answer, or why there is none.
struct Answered {
    int status = 0;
    Secret body;
    std::string failure;  // ours, as a code; "" = there is an answer
};
Answered ask_provider(const rules::OAuthRequest& request);

struct TokensAnswered {
    rules::TokenAnswer answer;
    bool was_reached = false;  // false: the provider did not answer at all
};
// Asks for tokens.
TokensAnswered ask_for_tokens(const rules::Provider& provider, const rules::OAuthRequest& request);

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
struct GiveBackAnswered {
    GivenBack result = GivenBack::NotYet;
    std::string code;  // why not
    bool was_reached = false;
};
// Gives tokens back at a provider whose row knows how, if there is an address that takes them.
GiveBackAnswered give_back_tokens(const rules::OAuthClient& client, const KeptTokens& tokens);

// The details of before, with others in their places.
std::string merged_details(std::string_view before,
                           const std::map<std::string, std::string>& details);

}  // namespace muster::service
