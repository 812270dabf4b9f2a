#include "service/connections/refresher.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/connections/refresh.hpp"
#include "store/connections/connections.hpp"
#include "store/connections/leases.hpp"

#include <algorithm>

namespace muster::service {

using rules::ProviderConnection;
using rules::TokenFailure;
using store::DueConnection;
using store::RemovedConnection;

namespace {

constexpr Milliseconds kUnreachablePause{60'000};
constexpr Milliseconds kSlowAnswer{3'000};
constexpr int kConnectionsAtOnce = 5;
constexpr Milliseconds kUnreadable{60'000};
// How long the revocation of tokens is retried.
constexpr Milliseconds kRevocationLife = std::chrono::days(1);

}  // namespace

// ---------------------------------------------------------------------------- limits

std::vector<std::string> ProviderLimits::skipped() {
    const std::lock_guard lock(mutex_);
    const SteadyTime now = steady_now();
    std::vector<std::string> names;
    for (const auto& [name, provider] : providers_) {
        if (provider.calls >= kMostAtOnce || provider.paused_until > now) names.push_back(name);
    }
    return names;
}

bool ProviderLimits::enter(std::string_view name) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_[std::string(name)];
    if (provider.calls >= kMostAtOnce || provider.paused_until > steady_now()) return false;
    ++provider.calls;
    return true;
}

void ProviderLimits::leave(std::string_view name, bool was_reached, Milliseconds took) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_.find(name)->second;
    --provider.calls;
    if (was_reached && took < kSlowAnswer) return;
    const SteadyTime until = steady_now() + (was_reached ? took : kUnreachablePause);
    provider.paused_until = std::max(provider.paused_until, until);
}

ProviderPermit::ProviderPermit(ProviderLimits& limits, std::string_view provider)
    : limits_(limits), provider_(provider), is_allowed_(limits.enter(provider)) {}

ProviderPermit::~ProviderPermit() {
    if (!is_allowed_) return;
    const auto took = std::chrono::steady_clock::now() - began_;
    limits_.leave(provider_, was_reached_, std::chrono::duration_cast<Milliseconds>(took));
}

// ---------------------------------------------------------------------------- lanes

struct ConnectionRefresher::Claimed {
    ProviderConnection connection;
    RefreshPlan plan;
};

ConnectionRefresher::ConnectionRefresher(Context& context, std::shared_ptr<ProviderLimits> limits)
    : context_(context), owner_(Uuid::v7()), limits_(std::move(limits)) {}

int ConnectionRefresher::step(const std::function<bool()>& should_stop) {
    int processed = 0;
    for (const DueConnection& due : find_due()) {
        if (should_stop()) break;
        ProviderPermit permit(*limits_, due.provider);
        if (!permit.is_allowed()) continue;
        if (due.is_removed ? revoke_removed(due, permit) : refresh(due, permit)) ++processed;
    }
    return processed;
}

std::vector<DueConnection> ConnectionRefresher::find_due() {
    const std::vector<std::string> skipped = limits_->skipped();
    const std::vector<std::string_view> without(skipped.begin(), skipped.end());
    return context_.database.autocommit([&](db::Tx& tx) {
        return store::find_due_connections(tx, Timestamp::now(), without, kConnectionsAtOnce);
    });
}

// ---------------------------------------------------------------------------- refreshes

bool ConnectionRefresher::refresh(const DueConnection& due, ProviderPermit& permit) {
    const auto claimed = claim(due);
    if (!claimed) return false;
    const auto& [connection, plan] = *claimed;
    if (plan.blocker == RefreshBlocker::NotConfigured) {
        const TokenFailure failure{TokenFailure::Kind::Misconfigured, std::string(kNotConfigured)};
        note_refresh_failure(context_, *plan.provider, failure, connection, owner_);
    } else if (plan.blocker == RefreshBlocker::None) {
        const auto outcome =
            refresh_claimed(context_, {due.organization}, plan, connection, owner_);
        if (!outcome.was_reached) permit.mark_unreachable();
    } else if (plan.blocker == RefreshBlocker::Unreadable) {
        warn_of_unreadable(connection);
    }
    return true;
}

// Takes the lease. Blockers that need no call to the provider are handled in the same transaction.
std::optional<ConnectionRefresher::Claimed> ConnectionRefresher::claim(const DueConnection& due) {
    return context_.database.transaction([&](db::Tx& tx) -> std::optional<Claimed> {
        OrgTransaction transaction{tx, {due.organization}, Timestamp::now()};
        db::OrgStore org(tx, due.organization);
        const auto connection = store::lock_connection(org, due.id);
        // Another lane may have processed it since the query.
        if (!connection || !connection->refresh_due_at ||
            *connection->refresh_due_at > transaction.now)
            return std::nullopt;
        if (!store::claim_connection(org, due.id, owner_, transaction.now,
                                     transaction.now + kConnectionLease))
            return std::nullopt;
        Claimed claimed{*connection, plan_refresh(context_, *connection)};
        postpone(transaction, claimed.connection, claimed.plan);
        return claimed;
    });
}

// Schedules the next look at a connection that cannot be refreshed, or expires it.
void ConnectionRefresher::postpone(OrgTransaction& transaction,
                                   const ProviderConnection& connection, const RefreshPlan& plan) {
    db::OrgStore org(transaction.tx, transaction.org());
    Timestamp when = transaction.now + kHourly;
    switch (plan.blocker) {
        case RefreshBlocker::None:
        case RefreshBlocker::NotConfigured:
            return;
        case RefreshBlocker::NoRefreshToken:
            when = connection.access_expires_at.value_or(when);
            if (when > transaction.now) break;
            return expire_connection(transaction, connection, owner_, *plan.provider);
        case RefreshBlocker::Unreadable:
            when = transaction.now + kUnreadable;
            break;
        case RefreshBlocker::UnknownProvider:
        case RefreshBlocker::NoTokens:
            break;
    }
    store::postpone_connection(org, connection.id, owner_, connection.refresh_attempts, when);
}

// Logged once, because one key encrypts all tokens.
void ConnectionRefresher::warn_of_unreadable(const ProviderConnection& connection) {
    if (!has_warned_) {
        log_event(LogLevel::Warning, "connection.tokens_unreadable",
                  {{"provider", connection.provider}, {"connection", connection.id.text()}});
    }
    has_warned_ = true;
}

// --------------------------------------------------------------------------- removed connections

bool ConnectionRefresher::revoke_removed(const DueConnection& due, ProviderPermit& permit) {
    const auto removed =
        context_.database.transaction([&](db::Tx& tx) -> std::optional<RemovedConnection> {
            const Timestamp now = Timestamp::now();
            db::OrgStore org(tx, due.organization);
            auto found = store::lock_removed_connection(org, due.id);
            if (!found || !found->due_at || *found->due_at > now) return std::nullopt;
            if (!store::claim_connection(org, due.id, owner_, now, now + kConnectionLease))
                return std::nullopt;
            return found;
        });
    if (!removed) return false;
    revoke(due.organization, *removed, permit);
    return true;
}

void ConnectionRefresher::revoke(OrgId organization, const RemovedConnection& removed,
                                 ProviderPermit& permit) {
    const auto client = client_of(context_.settings.providers, removed.provider, removed.host);
    if (!client) return postpone_revocation(organization, removed, std::string(kNotConfigured));
    const auto tokens = open_tokens(context_.keys, organization, removed.id, removed.tokens);
    if (!tokens) return postpone_revocation(organization, removed, "unreadable");
    const auto reply = revoke_tokens(*client, *tokens);
    if (!reply.was_reached) permit.mark_unreachable();
    if (reply.result != RevokeResult::Done)
        return postpone_revocation(organization, removed, reply.code);
    delete_removed(organization, removed);
    log_event(
        LogLevel::Info, "connection.given_back",
        {{"provider", removed.provider}, {"connection", removed.id.text()}, {"code", reply.code}});
}

void ConnectionRefresher::postpone_revocation(OrgId organization, const RemovedConnection& removed,
                                              const std::string& code) {
    const Timestamp now = Timestamp::now();
    const Timestamp end = removed.removed_at + kRevocationLife;
    const std::int64_t attempts = removed.attempts + 1;
    const bool is_last_attempt = now >= end;
    if (is_last_attempt) {
        delete_removed(organization, removed);
    } else {
        const Timestamp next =
            std::min(now + rules::refresh_back_off(static_cast<int>(attempts)), end);
        context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            store::postpone_connection(org, removed.id, owner_, attempts, next);
        });
    }
    log_event(is_last_attempt ? LogLevel::Warning : LogLevel::Info,
              is_last_attempt ? "connection.never_given_back" : "connection.not_given_back",
              {{"provider", removed.provider},
               {"connection", removed.id.text()},
               {"code", code},
               {"attempt", attempts}});
}

void ConnectionRefresher::delete_removed(OrgId organization, const RemovedConnection& removed) {
    context_.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        // After its lease ended, another process may have written newer tokens. They are due too.
        store::delete_connection(org, removed.id, removed.token_generation);
    });
}

}  // namespace muster::service
