#include "service/connections/refresh.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/audit.hpp"
#include "service/failure.hpp"
#include "store/connections/connections.hpp"
#include "store/connections/leases.hpp"

#include <algorithm>
#include <thread>

namespace muster::service {
namespace {

using rules::ConnectionStatus;
using rules::Provider;
using rules::ProviderConnection;
using rules::TokenFailure;

constexpr Milliseconds kWritePause{250};
// Plus the duration of a call, this is shorter than the lease.
constexpr Milliseconds kLongestDelay = kConnectionLease / 2;
// One or two failures are normal and not logged as a warning.
constexpr int kWarnAfterAttempts = 3;

bool has_ended(const ProviderConnection& connection, Timestamp now) {
    return connection.access_expires_at && *connection.access_expires_at <= now;
}

// The connection after another failed attempt.
ProviderConnection failed(ProviderConnection connection, const Provider& provider,
                          const TokenFailure& failure, Timestamp now) {
    connection.error = rules::failure_text(provider, failure);
    connection.updated_at = now;
    ++connection.refresh_attempts;
    connection.refresh_due_at = std::nullopt;
    if (failure.kind == TokenFailure::Kind::Refused) {
        connection.status = ConnectionStatus::Expired;
        return connection;
    }
    if (failure.kind == TokenFailure::Kind::Revoked) {
        connection.status = ConnectionStatus::Revoked;
        return connection;
    }
    const Milliseconds pause =
        failure.kind == TokenFailure::Kind::Misconfigured
            ? kHourly
            : rules::refresh_back_off(static_cast<int>(connection.refresh_attempts));
    connection.refresh_due_at = now + pause;
    if (has_ended(connection, now)) {
        connection.status = ConnectionStatus::Error;
    } else if (connection.access_expires_at) {
        // Retry at the expiry at the latest, to record that the access has ended.
        connection.refresh_due_at =
            std::min(*connection.refresh_due_at, *connection.access_expires_at);
    }
    return connection;
}

void audit_end(OrgTransaction& transaction, const ProviderConnection& connection) {
    const bool is_revoked = connection.status == ConnectionStatus::Revoked;
    if (!is_revoked && connection.status != ConnectionStatus::Expired) return;
    audit_system(transaction, is_revoked ? "connection.revoked" : "connection.expired",
                 connection.id.text(), {{"provider", connection.provider}});
}

// Returns whether the row holds these tokens. A transaction that runs again, or whose commit was
// not acknowledged, finds its own tokens there.
bool write_refreshed(OrgTransaction& transaction, ProviderConnection& connection) {
    db::OrgStore org(transaction.tx, transaction.org());
    connection.refreshed_at = connection.updated_at = transaction.now;
    if (store::write_tokens(org, connection, connection.token_generation)) {
        audit(transaction, "connection.refreshed", connection.id.text(),
              {{"provider", connection.provider}});
        return true;
    }
    const auto stored = store::find_connection(org, connection.id);
    return stored && stored->tokens == connection.tokens;
}

void log_failure(const ProviderConnection& after, const TokenFailure& failure) {
    const bool is_operators = failure.kind == TokenFailure::Kind::Misconfigured;
    const bool is_final =
        after.status == ConnectionStatus::Expired || after.status == ConnectionStatus::Revoked;
    const bool warns = is_operators || (!is_final && after.refresh_attempts >= kWarnAfterAttempts);
    log_event(warns ? LogLevel::Warning : LogLevel::Info,
              is_operators ? "connection.misconfigured" : "connection.refresh_failed",
              {{"provider", after.provider},
               {"connection", after.id.text()},
               {"code", failure.code},
               {"attempt", after.refresh_attempts}});
}

}  // namespace

RefreshPlan plan_refresh(const Context& context, const ProviderConnection& connection) {
    RefreshPlan plan;
    plan.provider = rules::find_provider(connection.provider);
    if (!plan.provider) {
        plan.blocker = RefreshBlocker::UnknownProvider;
        return plan;
    }
    const auto tokens =
        open_tokens(context.keys, connection.organization_id, connection.id, connection.tokens);
    if (!tokens) {
        plan.blocker =
            connection.tokens.empty() ? RefreshBlocker::NoTokens : RefreshBlocker::Unreadable;
        return plan;
    }
    plan.tokens = *tokens;
    if (!tokens->refresh) {
        plan.blocker = RefreshBlocker::NoRefreshToken;
    } else if (!rules::missing_settings(*plan.provider, context.settings.providers).empty()) {
        plan.blocker = RefreshBlocker::NotConfigured;
    }
    return plan;
}

RefreshOutcome refresh_claimed(Context& context, const Actor& actor, const RefreshPlan& plan,
                               const ProviderConnection& connection, const Uuid& owner,
                               Milliseconds retry_time) {
    if (std::chrono::steady_clock::now() - plan.made_at > kLongestDelay) {
        log_event(LogLevel::Warning, "connection.refresh_stalled",
                  {{"provider", connection.provider}, {"connection", connection.id.text()}});
        return {};
    }
    const Timestamp asked_at = Timestamp::now();
    const auto client =
        rules::oauth_client(*plan.provider, context.settings.providers, connection.host);
    const auto [answer, was_reached] =
        request_tokens(*plan.provider, rules::refresh_request(client, *plan.tokens.refresh));
    RefreshOutcome outcome;
    outcome.was_reached = was_reached;
    if (const auto* failure = std::get_if<TokenFailure>(&answer)) {
        outcome.failure = *failure;
        outcome.was_written =
            note_refresh_failure(context, *plan.provider, *failure, connection, owner);
        return outcome;
    }
    auto tokens = std::get<rules::Tokens>(answer);
    if (!tokens.refresh_token) tokens.refresh_token = plan.tokens.refresh;
    ProviderConnection refreshed = connection;
    set_tokens(refreshed, context.keys, *plan.provider, tokens, asked_at);
    // Written even if the lease was lost: these tokens are valid, and the old ones may no longer
    // be.
    retry_write(refreshed, retry_time, [&] {
        outcome.was_written = context.database.transaction([&](db::Tx& tx) {
            OrgTransaction transaction{tx, actor, Timestamp::now()};
            return write_refreshed(transaction, refreshed);
        });
    });
    log_event(LogLevel::Info,
              outcome.was_written ? "connection.refreshed" : "connection.refresh_superseded",
              {{"provider", connection.provider}, {"connection", connection.id.text()}});
    return outcome;
}

bool note_refresh_failure(Context& context, const Provider& provider, const TokenFailure& failure,
                          const ProviderConnection& connection, const Uuid& owner) {
    ProviderConnection after;
    const bool was_written = context.database.transaction([&](db::Tx& tx) {
        OrgTransaction transaction{tx, {connection.organization_id}, Timestamp::now()};
        db::OrgStore org(tx, connection.organization_id);
        after = failed(connection, provider, failure, transaction.now);
        if (!store::write_refresh_failure(org, after, owner)) return false;
        audit_end(transaction, after);
        return true;
    });
    log_failure(after, failure);
    return was_written;
}

void expire_connection(OrgTransaction& transaction, const ProviderConnection& connection,
                       const Uuid& owner, const Provider& provider) {
    ProviderConnection after = connection;
    after.status = ConnectionStatus::Expired;
    after.error =
        "The access that " + std::string(provider.name) + " granted has expired. Connect it again.";
    after.refresh_due_at = std::nullopt;
    after.updated_at = transaction.now;
    db::OrgStore org(transaction.tx, transaction.org());
    if (store::write_refresh_failure(org, after, owner)) audit_end(transaction, after);
}

void set_tokens(ProviderConnection& connection, const KeyRing& keys, const Provider& provider,
                const rules::Tokens& tokens, Timestamp asked_at) {
    KeptTokens kept{tokens.access_token, std::nullopt};
    if (provider.refresh == rules::Refresh::WithToken) kept.refresh = tokens.refresh_token;
    connection.tokens = seal_tokens(keys, connection.organization_id, connection.id, kept);
    connection.details = merged_details(connection.details, tokens.details);
    connection.access_expires_at =
        tokens.life ? std::optional(asked_at + *tokens.life) : std::nullopt;
    connection.refresh_due_at = rules::refresh_due(kept.refresh.has_value(), tokens.life, asked_at);
}

void retry_write(const ProviderConnection& connection, Milliseconds retry_time,
                 const std::function<void()>& write) {
    const auto end = std::chrono::steady_clock::now() + retry_time;
    while (true) {
        try {
            return write();
        } catch (const std::exception& error) {
            if (!is_transient_failure(error) || std::chrono::steady_clock::now() >= end) {
                log_event(LogLevel::Error, "connection.tokens_lost",
                          {{"provider", connection.provider},
                           {"connection", connection.id.text()},
                           {"reason", explained(error)}});
                throw;
            }
        }
        std::this_thread::sleep_for(kWritePause);
    }
}

}  // namespace muster::service
