// One refresh of a connection's tokens, for an admin who asks for it and for the runner alike: the
// claim, the call, and writing down what came of it (docs/external-data.md "Tokens").
#pragma once

#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"
#include "service/connections/provider_client.hpp"
#include "service/context.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::service {

// How long what a provider has just given is tried to be written down while the database is away.
inline constexpr Milliseconds kWritePatience{20'000};
// Longer than a call and that together.
inline constexpr Milliseconds kConnectionLease{60'000};
inline constexpr Milliseconds kHourly{3600L * 1000};
// Of a provider that the operator has not set up any more.
inline constexpr std::string_view kNotConfigured = "not_configured";

// What stands between a connection and a refresh.
enum class RefreshBlocker : std::uint8_t {
    None,
    UnknownProvider,  // of a newer Muster
    NoTokens,
    Unreadable,      // sealed under another key: during a rotation somebody else may have it
    NoRefreshToken,  // somebody has to connect anew, once the access has ended
    NotConfigured,
};
struct RefreshPlan {
    RefreshBlocker blocker = RefreshBlocker::None;
    const rules::Provider* provider = nullptr;
    KeptTokens tokens;
    std::chrono::steady_clock::time_point made_at = std::chrono::steady_clock::now();
};
// Inside the transaction that takes the lease.
RefreshPlan plan_refresh(const Context& context, const rules::ProviderConnection& connection);

struct RefreshOutcome {
    std::optional<rules::TokenFailure> failure;  // nullopt: there were new tokens
    bool was_reached = true;                     // the provider answered something
    bool was_written = false;                    // false: newer tokens were there already
};
// Calls the provider for a connection as it was when `owner` took its lease, outside of any
// transaction, and writes down what comes of it; whoever froze meanwhile, so that the lease may be
// another's by now, does not call. Audited as connection.refreshed by an admin, as
// connection.expired or .revoked by nobody. Throws what the database throws when it stays away for
// longer than `patience`: new tokens are lost then.
RefreshOutcome refresh_claimed(Context& context, const Actor& actor, const RefreshPlan& plan,
                               const rules::ProviderConnection& connection, const Uuid& owner,
                               Milliseconds patience = kWritePatience);

// Writes down that there are no new tokens; false where others are there by now.
bool note_refresh_failure(Context& context, const rules::Provider& provider,
                          const rules::TokenFailure& failure,
                          const rules::ProviderConnection& connection, const Uuid& owner);
// The end of one that cannot be refreshed, in the transaction of its claim.
void expire_connection(OrgTransaction& transaction, const rules::ProviderConnection& connection,
                       const Uuid& owner, const rules::Provider& provider);

// Puts what was granted for a call at `asked_at` into the connection's fields. A refresh token is
// dropped where the provider's row has no use for one.
void take_tokens(rules::ProviderConnection& connection, const KeyRing& keys,
                 const rules::Provider& provider, const rules::Tokens& tokens, Timestamp asked_at);

// Runs `write` until it has been, or `patience` is over, as long as the database fails in passing.
// Bears a commit of which nobody knows whether it happened only where `write` does.
void write_patiently(const rules::ProviderConnection& connection, Milliseconds patience,
                     const std::function<void()>& write);

}  // namespace muster::service
