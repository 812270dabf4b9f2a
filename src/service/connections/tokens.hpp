// The tokens of connections: code exchange, refresh and revocation (docs/external-data.md
// "Tokens"). A provider is called outside any transaction. A lease in the row prevents two
// concurrent calls for one connection; the generation of the tokens decides which write wins.
#pragma once

#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"
#include "service/context.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace muster::service {

// An authorization code, with the connection at the time its state was used up, and the OAuth
// client.
struct CodeGrant {
    rules::ProviderConnection connection;
    rules::OAuthClient client;
    std::string code;
    rules::AuthorizationRequest request;  // as sent to the provider
    std::map<std::string, std::string>
        details;  // callback parameters that the provider's row stores
};

// Exchanges the code for tokens, performs the provider's look-up and stores the result. Returns
// nullopt if the connection is connected now (audited as connection.connected by actor.admin).
// Otherwise returns the failure; a connection without tokens stores it as its error. Throws
// NOT_FOUND if the connection was deleted in the meantime.
std::optional<rules::TokenFailure> exchange_code(Context& context, const Actor& actor,
                                                 const CodeGrant& grant);

// Whether a worker may wait for this provider. Called inside a transaction, and again if the
// transaction runs again.
using TryAcquire = std::function<bool(const rules::Provider& provider)>;

enum class RefreshState : std::uint8_t {
    Done,        // now or less than a second ago; the connection shows the result
    InProgress,  // another process is refreshing, or will soon
};
struct RefreshResult {
    RefreshState state = RefreshState::Done;
    rules::ProviderConnection connection;
};
// Refreshes the tokens now. If `try_acquire` returns false, the runner refreshes them soon and the
// state is InProgress. Throws NOT_FOUND, INVALID_STATE with details.reason if the connection cannot
// be refreshed, and PROVIDER_UNAVAILABLE if the provider is no longer set up.
RefreshResult refresh_connection(Context& context, const Actor& actor, ConnectionId id,
                                 const TryAcquire& try_acquire);
// Deletes the connection; audited as connection.removed. If its tokens can be revoked, the
// connection is hidden and the runner revokes them first. Throws NOT_FOUND.
void remove_connection(OrgTransaction& transaction, const Context& context, ConnectionId id);

}  // namespace muster::service
