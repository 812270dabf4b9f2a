#include "service/connections/tokens.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "net/oauth.hpp"
#include "service/audit.hpp"
#include "service/connections/catalogue.hpp"
#include "service/connections/refresh.hpp"
#include "store/connections/connections.hpp"
#include "store/connections/leases.hpp"

namespace muster::service {
namespace {

using rules::ConnectionStatus;
using rules::Provider;
using rules::ProviderConnection;
using rules::TokenFailure;

// A refresh that ended this recently counts as the result of a new request.
constexpr Milliseconds kReuseTime{1'000};

// ---------------------------------------------------------------------------- code exchange

// The tokens; the result of the provider's look-up is added to the details.
rules::TokenAnswer exchange_code_for_tokens(const CodeGrant& grant) {
    const rules::OAuthClient& client = grant.client;
    const Provider& provider = *client.provider;
    rules::TokenAnswer answer =
        request_tokens(provider, rules::code_request(client, grant.request, grant.code)).answer;
    auto* tokens = std::get_if<rules::Tokens>(&answer);
    if (!tokens || client.lookup_url.empty()) return answer;
    const OAuthReply found = net::call_oauth(rules::lookup_request(client, tokens->access_token));
    if (!found.was_received()) return TokenFailure{TokenFailure::Kind::Unavailable, found.failure};
    const auto details = rules::read_lookup_answer(provider, found.status, found.body.reveal());
    if (!details) return TokenFailure{TokenFailure::Kind::Unavailable, "invalid_lookup"};
    tokens->details.insert(details->begin(), details->end());
    return answer;
}

// Stores the failure as the error of a connection that has no tokens. A connection that has tokens,
// or for which a new authorization began since, is not changed.
void note_failed_exchange(Context& context, const ProviderConnection& before,
                          const Provider& provider, const TokenFailure& failure) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, before.organization_id);
        auto connection = store::lock_connection(org, before.id);
        if (!connection || !connection->tokens.empty()) return;
        if (connection->updated_at != before.updated_at) return;
        connection->status = ConnectionStatus::Error;
        connection->error = rules::failure_text(provider, failure);
        connection->updated_at = Timestamp::now();
        store::set_connection_status(org, *connection);
    });
    const bool is_operators = failure.kind == TokenFailure::Kind::Misconfigured;
    log_event(
        is_operators ? LogLevel::Warning : LogLevel::Info,
        is_operators ? "connection.misconfigured" : "connection.exchange_failed",
        {{"provider", provider.id}, {"connection", before.id.text()}, {"code", failure.code}});
}

// Revokes tokens that no row can hold, because the connection was deleted in the meantime.
// A failure is therefore final.
void revoke_removed(const rules::OAuthClient& client, const rules::Tokens& tokens,
                    ConnectionId id) {
    if (client.revoke_url.empty()) return;
    const auto reply = revoke_tokens(client, {tokens.access_token, tokens.refresh_token});
    const bool is_done = reply.result == RevokeResult::Done;
    log_event(is_done ? LogLevel::Info : LogLevel::Warning,
              is_done ? "connection.given_back" : "connection.never_given_back",
              {{"provider", client.provider->id}, {"connection", id.text()}, {"code", reply.code}});
}

// Returns false if the connection was deleted in the meantime.
bool write_exchanged(OrgTransaction& transaction, ProviderConnection& granted) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto stored = store::lock_connection(org, granted.id);
    if (!stored) return false;
    if (stored->tokens == granted.tokens)
        return true;  // committed before without an acknowledgement
    granted.refreshed_at = granted.updated_at = transaction.now;
    // New consent takes precedence over a concurrent refresh of the old tokens.
    if (!store::write_tokens(org, granted, stored->token_generation)) return false;
    audit(transaction, "connection.connected", granted.id.text(), {{"provider", granted.provider}});
    return true;
}

bool write_granted(Context& context, const Actor& actor, ProviderConnection& granted) {
    bool was_written = false;
    retry_write(granted, kWriteRetryTime, [&] {
        was_written = context.database.transaction([&](db::Tx& tx) {
            OrgTransaction transaction{tx, actor, Timestamp::now()};
            return write_exchanged(transaction, granted);
        });
    });
    return was_written;
}

// ---------------------------------------------------------------------------- refreshes

[[noreturn]] void refuse(std::string_view reason) {
    throw Error(ErrorCode::InvalidState).detail("reason", std::string(reason));
}

// Throws if the connection cannot be refreshed.
RefreshPlan require_refreshable(const Context& context, const ProviderConnection& connection) {
    switch (connection.status) {
        case ConnectionStatus::Pending:
            refuse("this connection is not authorized yet");
        case ConnectionStatus::Expired:
            refuse("this connection has expired; connect it again");
        case ConnectionStatus::Revoked:
            refuse("the access was revoked; connect it again");
        case ConnectionStatus::Connected:
        case ConnectionStatus::Error:
            break;
    }
    RefreshPlan plan = plan_refresh(context, connection);
    switch (plan.blocker) {
        case RefreshBlocker::NoTokens:
            refuse("this connection was never connected");
        case RefreshBlocker::NoRefreshToken:
            refuse("the provider issued no refresh token for this connection");
        case RefreshBlocker::NotConfigured:
            require_ready(*plan.provider, context.settings.providers);
            break;
        case RefreshBlocker::UnknownProvider:
        case RefreshBlocker::Unreadable:
            throw Error(ErrorCode::ServiceUnavailable)
                .internal("the tokens of connection " + connection.id.text() +
                          " cannot be decrypted or used")
                .retry_after(kProviderRetrySeconds);
        case RefreshBlocker::None:
            break;
    }
    return plan;
}

// Tokens of a code exchange do not count: a refresh right after it is performed.
bool was_just_refreshed(const ProviderConnection& connection, Timestamp now) {
    // Clocks differ and may be set back, so times in the future do not count as recent.
    const auto is_recent = [&](Timestamp when) {
        return std::chrono::abs(now - when) < kReuseTime;
    };
    const bool refreshed = connection.token_generation > 1 && connection.refreshed_at &&
                           is_recent(*connection.refreshed_at);
    return refreshed || (connection.refresh_attempts > 0 && is_recent(connection.updated_at));
}

// Whether the tokens can be revoked. A provider that is not set up at the moment counts as
// revocable; the runner checks again.
bool is_revocable(const Settings& settings, const ProviderConnection& connection) {
    const Provider* provider = rules::find_provider(connection.provider);
    if (!provider || provider->revocation == rules::Revocation::None) return false;
    const auto client = client_of(settings.providers, provider->id, connection.host);
    return !client || !client->revoke_url.empty();
}

ProviderConnection locked(db::OrgStore& org, ConnectionId id) {
    auto connection = store::lock_connection(org, id);
    if (!connection) throw Error(ErrorCode::NotFound);
    return *connection;
}

}  // namespace

std::optional<TokenFailure> exchange_code(Context& context, const Actor& actor,
                                          const CodeGrant& grant) {
    const Provider& provider = *grant.client.provider;
    const Timestamp asked_at = Timestamp::now();
    const rules::TokenAnswer answer = exchange_code_for_tokens(grant);
    if (const auto* failure = std::get_if<TokenFailure>(&answer)) {
        note_failed_exchange(context, grant.connection, provider, *failure);
        return *failure;
    }
    const auto& tokens = std::get<rules::Tokens>(answer);
    ProviderConnection granted = grant.connection;
    granted.details =
        merged_details("{}", grant.details);  // discard the details of a previous account
    set_tokens(granted, context.keys, provider, tokens, asked_at);
    if (!write_granted(context, actor, granted)) {
        revoke_removed(grant.client, tokens, granted.id);
        throw Error(ErrorCode::NotFound);
    }
    log_event(LogLevel::Info, "connection.connected",
              {{"provider", provider.id}, {"connection", granted.id.text()}});
    return std::nullopt;
}

RefreshResult refresh_connection(Context& context, const Actor& actor, ConnectionId id,
                                 const TryAcquire& try_acquire) {
    const Uuid owner = Uuid::v7();
    RefreshPlan plan;
    RefreshResult result;
    const bool is_ours = context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, actor.organization);
        result = {RefreshState::Done, locked(org, id)};
        plan = require_refreshable(context, result.connection);
        if (was_just_refreshed(result.connection, now)) return false;
        result.state = RefreshState::InProgress;
        if (!try_acquire(*plan.provider)) {
            store::make_connection_due(org, id, now);
            return false;
        }
        return store::claim_connection(org, id, owner, now, now + kConnectionLease);
    });
    if (!is_ours) return result;
    refresh_claimed(context, actor, plan, result.connection, owner);
    const auto after = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, actor.organization);
        return store::find_connection(org, id);
    });
    if (!after) throw Error(ErrorCode::NotFound);
    return {RefreshState::Done, *after};
}

void remove_connection(OrgTransaction& transaction, const Context& context, ConnectionId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const ProviderConnection connection = locked(org, id);
    if (!connection.tokens.empty() && is_revocable(context.settings, connection)) {
        store::mark_connection_removed(org, id, transaction.now);
    } else {
        store::delete_connection(org, id, connection.token_generation);
    }
    audit(transaction, "connection.removed", id.text(), {{"provider", connection.provider}});
}

}  // namespace muster::service
