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

// What ended that recently is as good as what would begin now.
constexpr Milliseconds kJustNow{1'000};
constexpr int kAskAgain = 60;  // seconds

// ---------------------------------------------------------------------------- a code's tokens

// Tokens, with what the look-up said among the details.
rules::TokenAnswer ask_for_code(const CodeGrant& grant) {
    const rules::OAuthClient& client = grant.client;
    const Provider& provider = *client.provider;
    rules::TokenAnswer answer =
        ask_for_tokens(provider, rules::code_request(client, grant.request, grant.code)).answer;
    auto* tokens = std::get_if<rules::Tokens>(&answer);
    if (!tokens || client.lookup_url.empty()) return answer;
    const OAuthReply found = net::call_oauth(rules::lookup_request(client, tokens->access_token));
    if (!found.has_answer()) return TokenFailure{TokenFailure::Kind::Unavailable, found.failure};
    const auto details = rules::read_lookup_answer(provider, found.status, found.body.reveal());
    if (!details) return TokenFailure{TokenFailure::Kind::Unavailable, "invalid_lookup"};
    tokens->details.insert(details->begin(), details->end());
    return answer;
}

// The connection says why it has no tokens; one that has some keeps them and what it says, and one
// that somebody has set out for anew since then waits for them.
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

// Of a connection that was deleted meanwhile: nobody holds these, so they go back at once.
void give_back(const rules::OAuthClient& client, const rules::Tokens& tokens, ConnectionId id) {
    if (client.revoke_url.empty()) return;
    const auto answered = give_back_tokens(client, {tokens.access_token, tokens.refresh_token});
    log_event(
        LogLevel::Info, "connection.given_back",
        {{"provider", client.provider->id}, {"connection", id.text()}, {"code", answered.code}});
}

// False where the connection was deleted meanwhile.
bool write_exchanged(OrgTransaction& transaction, ProviderConnection& granted) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto standing = store::lock_connection(org, granted.id);
    if (!standing) return false;
    if (standing->tokens == granted.tokens) return true;  // a commit that nobody knew of
    granted.refreshed_at = granted.updated_at = transaction.now;
    // What an admin has just consented to counts, whoever refreshes the tokens of before.
    if (!store::write_tokens(org, granted, standing->token_generation)) return false;
    audit(transaction, "connection.connected", granted.id.text(), {{"provider", granted.provider}});
    return true;
}

bool write_granted(Context& context, const Actor& actor, ProviderConnection& granted) {
    bool was_written = false;
    write_patiently(granted, kWritePatience, [&] {
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

// Throws unless there is something to refresh with.
RefreshPlan require_refreshable(const Context& context, const ProviderConnection& connection) {
    switch (connection.status) {
        case ConnectionStatus::Pending:
            refuse("nobody has consented to this connection yet");
        case ConnectionStatus::Expired:
            refuse("this connection has expired and has to be connected anew");
        case ConnectionStatus::Revoked:
            refuse("the access was taken back; connect it again");
        case ConnectionStatus::Connected:
        case ConnectionStatus::Error:
            break;
    }
    RefreshPlan plan = plan_refresh(context, connection);
    switch (plan.blocker) {
        case RefreshBlocker::NoTokens:
            refuse("this connection was never connected");
        case RefreshBlocker::NoRefreshToken:
            refuse("the provider gave nothing to refresh this connection with");
        case RefreshBlocker::NotConfigured:
            require_ready(*plan.provider, context.settings.providers);
            break;
        case RefreshBlocker::UnknownProvider:
        case RefreshBlocker::Unreadable:
            throw Error(ErrorCode::ServiceUnavailable)
                .internal("the tokens of connection " + connection.id.text() +
                          " cannot be opened or used")
                .retry_after(kAskAgain);
        case RefreshBlocker::None:
            break;
    }
    return plan;
}

// The first tokens came for a code: whoever asks right behind them wants to see a refresh.
bool has_just_ended(const ProviderConnection& connection, Timestamp now) {
    // Clocks differ, and are set back: what is to come is not just over.
    const auto is_just_now = [&](Timestamp when) {
        return std::chrono::abs(now - when) < kJustNow;
    };
    const bool refreshed = connection.token_generation > 1 && connection.refreshed_at &&
                           is_just_now(*connection.refreshed_at);
    return refreshed || (connection.refresh_attempts > 0 && is_just_now(connection.updated_at));
}

// Whether somebody takes its tokens back. Of a provider that is not set up at the moment nobody
// knows: the runner sees whether it is again.
bool is_taken_back(const Settings& settings, const ProviderConnection& connection) {
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
    const rules::TokenAnswer answer = ask_for_code(grant);
    if (const auto* failure = std::get_if<TokenFailure>(&answer)) {
        note_failed_exchange(context, grant.connection, provider, *failure);
        return *failure;
    }
    const auto& tokens = std::get<rules::Tokens>(answer);
    ProviderConnection granted = grant.connection;
    granted.details = merged_details("{}", grant.details);  // nothing of another account's
    take_tokens(granted, context.keys, provider, tokens, asked_at);
    if (!write_granted(context, actor, granted)) {
        give_back(grant.client, tokens, granted.id);
        throw Error(ErrorCode::NotFound);
    }
    log_event(LogLevel::Info, "connection.connected",
              {{"provider", provider.id}, {"connection", granted.id.text()}});
    return std::nullopt;
}

RefreshResult refresh_connection(Context& context, const Actor& actor, ConnectionId id,
                                 const TryAcquire& may_wait) {
    const Uuid owner = Uuid::v7();
    RefreshPlan plan;
    RefreshResult result;
    const bool is_ours = context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        db::OrgStore org(tx, actor.organization);
        result = {Refreshing::Done, locked(org, id)};
        plan = require_refreshable(context, result.connection);
        if (has_just_ended(result.connection, now)) return false;
        result.state = Refreshing::UnderWay;
        if (!may_wait(*plan.provider)) {
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
    return {Refreshing::Done, *after};
}

void remove_connection(OrgTransaction& transaction, const Context& context, ConnectionId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const ProviderConnection connection = locked(org, id);
    if (!connection.tokens.empty() && is_taken_back(context.settings, connection)) {
        store::mark_connection_removed(org, id, transaction.now);
    } else {
        store::delete_connection(org, id);
    }
    audit(transaction, "connection.removed", id.text(), {{"provider", connection.provider}});
}

}  // namespace muster::service
