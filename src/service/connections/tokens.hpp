// The tokens of connections: got for a code, refreshed, given back (docs/external-data.md
// "Tokens"). A provider is called outside of any transaction, and never by two at once for one
// connection: a lease in its row keeps others away, and the generation of the tokens decides who
// may write.
#pragma once

#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"
#include "service/context.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace muster::service {

// An authorization code, with the connection as it was when its state was spent and the provider as
// it is called.
struct CodeGrant {
    rules::ProviderConnection connection;
    rules::OAuthClient client;
    std::string code;
    rules::AuthorizationRequest request;         // as it was sent
    std::map<std::string, std::string> details;  // of the callback: what the row keeps
};

// Gets tokens for the code, looks up what the row says, and writes it all: the connection is
// connected then (audited as connection.connected, by actor.admin). nullopt when it is; else why
// not, and the connection says so where it had no tokens before. Throws NOT_FOUND for a connection
// that was deleted meanwhile.
std::optional<rules::TokenFailure> exchange_code(Context& context, const Actor& actor,
                                                 const CodeGrant& grant);

// Whether a worker can be spared to wait for that provider; asked inside a transaction, and again
// when that runs again.
using TryAcquire = std::function<bool(const rules::Provider& provider)>;

enum class Refreshing : std::uint8_t {
    Done,      // now, or less than a second ago; the connection says how it went
    UnderWay,  // somebody else is at it, or will be soon
};
struct RefreshResult {
    Refreshing state = Refreshing::Done;
    rules::ProviderConnection connection;
};
// Refreshes the tokens at once; where `may_wait` says no, the runner will soon, and it is under way
// likewise. Throws NOT_FOUND, INVALID_STATE with details.reason for a connection that has nothing
// to refresh, and PROVIDER_UNAVAILABLE where the provider is not configured any more.
RefreshResult refresh_connection(Context& context, const Actor& actor, ConnectionId id,
                                 const TryAcquire& may_wait);
// Deletes it, audited as connection.removed. Where tokens can be given back, the runner does that;
// the connection is nowhere to be seen meanwhile. Throws NOT_FOUND.
void remove_connection(OrgTransaction& transaction, const Context& context, ConnectionId id);

}  // namespace muster::service
