// Refreshes the tokens of one connection, for an admin's request and for the runner: the claim, the
// call, and storing the result (docs/external-data.md "Tokens").
#pragma once

#include "rules/connections/connection.hpp"
#include "rules/connections/oauth.hpp"
#include "service/connections/provider_client.hpp"
#include "service/context.hpp"

#include <functional>
#include <optional>
#include <string>

namespace muster::service {

// How long a write of new tokens is retried while the database is unavailable.
inline constexpr Milliseconds kWriteRetryTime{20'000};
// Longer than a call plus kWriteRetryTime.
inline constexpr Milliseconds kConnectionLease{60'000};
inline constexpr Milliseconds kHourly{3600L * 1000};
// The failure code of a provider that is no longer set up.
inline constexpr std::string_view kNotConfigured = "not_configured";

// Why a connection cannot be refreshed.
enum class RefreshBlocker : std::uint8_t {
    None,
    UnknownProvider,  // added by a newer version of Muster
    NoTokens,
    Unreadable,      // encrypted with another key; another process may have it during a rotation
    NoRefreshToken,  // an admin must connect again after the access expires
    NotConfigured,
};
struct RefreshPlan {
    RefreshBlocker blocker = RefreshBlocker::None;
    const rules::Provider* provider = nullptr;
    KeptTokens tokens;
    std::chrono::steady_clock::time_point made_at = std::chrono::steady_clock::now();
};
// Call it inside the transaction that takes the lease.
RefreshPlan plan_refresh(const Context& context, const rules::ProviderConnection& connection);

struct RefreshOutcome {
    std::optional<rules::TokenFailure> failure;  // nullopt: success
    bool was_reached = true;                     // the provider answered
    bool was_written = false;                    // false: the row already held newer tokens
};
// Calls the provider, outside any transaction, for a connection in the state in which `owner` took
// its lease, and stores the result. Does not call if so much time passed since the claim that the
// lease may have expired. Audited as connection.refreshed by an admin, as connection.expired or
// connection.revoked by the system. Throws the database's error if the database is unavailable for
// longer than `retry_time`; the new tokens are lost then.
RefreshOutcome refresh_claimed(Context& context, const Actor& actor, const RefreshPlan& plan,
                               const rules::ProviderConnection& connection, const Uuid& owner,
                               Milliseconds retry_time = kWriteRetryTime);

// Records the failure. Returns false if the row holds newer tokens.
bool note_refresh_failure(Context& context, const rules::Provider& provider,
                          const rules::TokenFailure& failure,
                          const rules::ProviderConnection& connection, const Uuid& owner);
// Expires a connection that cannot be refreshed, in the transaction of its claim.
void expire_connection(OrgTransaction& transaction, const rules::ProviderConnection& connection,
                       const Uuid& owner, const rules::Provider& provider);

// Copies the tokens granted for a call at `asked_at` into the connection's fields. Drops the
// refresh token if the provider's row does not use one.
void set_tokens(rules::ProviderConnection& connection, const KeyRing& keys,
                const rules::Provider& provider, const rules::Tokens& tokens, Timestamp asked_at);

// Calls `write` until it succeeds or `retry_time` has passed, as long as the errors are transient.
// `write` must be idempotent, because the result of a commit may be unknown.
void retry_write(const rules::ProviderConnection& connection, Milliseconds retry_time,
                 const std::function<void()>& write);

}  // namespace muster::service
