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

constexpr Milliseconds kRest{60'000};
constexpr Milliseconds kSlow{3'000};
constexpr int kConnectionsAtOnce = 5;
constexpr Milliseconds kUnreadable{60'000};
// How long it is tried to give tokens back.
constexpr Milliseconds kGiveBackLife = std::chrono::days(1);

}  // namespace

// ---------------------------------------------------------------------------- limits

std::vector<std::string> ProviderLimits::avoided() {
    const std::lock_guard lock(mutex_);
    const Timestamp now = Timestamp::now();
    std::vector<std::string> names;
    for (const auto& [name, provider] : providers_) {
        if (provider.visits >= kMostAtOnce || provider.rests_until > now) names.push_back(name);
    }
    return names;
}

bool ProviderLimits::enter(std::string_view name) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_[std::string(name)];
    if (provider.visits >= kMostAtOnce || provider.rests_until > Timestamp::now()) return false;
    ++provider.visits;
    return true;
}

void ProviderLimits::leave(std::string_view name, bool was_reached, Milliseconds took) {
    const std::lock_guard lock(mutex_);
    Provider& provider = providers_.find(name)->second;
    --provider.visits;
    if (was_reached && took < kSlow) return;
    const Timestamp until = Timestamp::now() + (was_reached ? took : kRest);
    provider.rests_until = std::max(provider.rests_until, until);
}

ProviderVisit::ProviderVisit(ProviderLimits& limits, std::string_view provider)
    : limits_(limits), provider_(provider), is_allowed_(limits.enter(provider)) {}

ProviderVisit::~ProviderVisit() {
    if (!is_allowed_) return;
    const auto took = std::chrono::steady_clock::now() - began_;
    limits_.leave(provider_, was_reached_, std::chrono::duration_cast<Milliseconds>(took));
}

// ---------------------------------------------------------------------------- a lane

struct ConnectionRefresher::Claimed {
    ProviderConnection connection;
    RefreshPlan plan;
};

ConnectionRefresher::ConnectionRefresher(Context& context, std::shared_ptr<ProviderLimits> limits)
    : context_(context), owner_(Uuid::v7()), limits_(std::move(limits)) {}

int ConnectionRefresher::step(const std::function<bool()>& is_over) {
    int worked_on = 0;
    for (const DueConnection& due : look_for_due()) {
        if (is_over()) break;
        ProviderVisit visit(*limits_, due.provider);
        if (!visit.is_allowed()) continue;
        if (due.is_removed ? give_back(due, visit) : refresh(due, visit)) ++worked_on;
    }
    return worked_on;
}

std::vector<DueConnection> ConnectionRefresher::look_for_due() {
    const std::vector<std::string> avoided = limits_->avoided();
    const std::vector<std::string_view> without(avoided.begin(), avoided.end());
    return context_.database.autocommit([&](db::Tx& tx) {
        return store::find_due_connections(tx, Timestamp::now(), without, kConnectionsAtOnce);
    });
}

// ---------------------------------------------------------------------------- refreshes

bool ConnectionRefresher::refresh(const DueConnection& due, ProviderVisit& visit) {
    const auto claimed = claim(due);
    if (!claimed) return false;
    const auto& [connection, plan] = *claimed;
    if (plan.blocker == RefreshBlocker::NotConfigured) {
        const TokenFailure failure{TokenFailure::Kind::Misconfigured, std::string(kNotConfigured)};
        note_refresh_failure(context_, *plan.provider, failure, connection, owner_);
    } else if (plan.blocker == RefreshBlocker::None) {
        const auto outcome =
            refresh_claimed(context_, {due.organization}, plan, connection, owner_);
        if (!outcome.was_reached) visit.note_unreached();
    } else if (plan.blocker == RefreshBlocker::Unreadable) {
        warn_of_unreadable(connection);
    }
    return true;
}

// Takes the lease; what needs no provider is done with it at once.
std::optional<ConnectionRefresher::Claimed> ConnectionRefresher::claim(const DueConnection& due) {
    return context_.database.transaction([&](db::Tx& tx) -> std::optional<Claimed> {
        OrgTransaction transaction{tx, {due.organization}, Timestamp::now()};
        db::OrgStore org(tx, due.organization);
        const auto connection = store::lock_connection(org, due.id);
        // Another lane may have been there since it was looked for.
        if (!connection || !connection->refresh_due_at ||
            *connection->refresh_due_at > transaction.now)
            return std::nullopt;
        if (!store::claim_connection(org, due.id, owner_, transaction.now,
                                     transaction.now + kConnectionLease))
            return std::nullopt;
        Claimed claimed{*connection, plan_refresh(context_, *connection)};
        put_off(transaction, claimed.connection, claimed.plan);
        return claimed;
    });
}

// Of one that cannot be refreshed by asking: what is to be done instead, or when to look again.
void ConnectionRefresher::put_off(OrgTransaction& transaction, const ProviderConnection& connection,
                                  const RefreshPlan& plan) {
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

// Once: it is the same key for all of them.
void ConnectionRefresher::warn_of_unreadable(const ProviderConnection& connection) {
    if (!has_warned_) {
        log_event(LogLevel::Warning, "connection.tokens_unreadable",
                  {{"provider", connection.provider}, {"connection", connection.id.text()}});
    }
    has_warned_ = true;
}

// ---------------------------------------------------------------------------- what was removed

bool ConnectionRefresher::give_back(const DueConnection& due, ProviderVisit& visit) {
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
    try_to_give_back(due.organization, *removed, visit);
    return true;
}

void ConnectionRefresher::try_to_give_back(OrgId organization, const RemovedConnection& removed,
                                           ProviderVisit& visit) {
    const auto client = client_of(context_.settings.providers, removed.provider, removed.host);
    if (!client) return try_again(organization, removed, std::string(kNotConfigured));
    const auto tokens = open_tokens(context_.keys, organization, removed.id, removed.tokens);
    if (!tokens) return try_again(organization, removed, "unreadable");
    const auto answered = give_back_tokens(*client, *tokens);
    if (!answered.was_reached) visit.note_unreached();
    if (answered.result != GivenBack::Done) return try_again(organization, removed, answered.code);
    forget(organization, removed);
    log_event(LogLevel::Info, "connection.given_back",
              {{"provider", removed.provider},
               {"connection", removed.id.text()},
               {"code", answered.code}});
}

void ConnectionRefresher::try_again(OrgId organization, const RemovedConnection& removed,
                                    const std::string& code) {
    const Timestamp now = Timestamp::now();
    const Timestamp end = removed.removed_at + kGiveBackLife;
    const std::int64_t attempts = removed.attempts + 1;
    const bool gives_up = now >= end;
    if (gives_up) {
        forget(organization, removed);
    } else {
        const Timestamp next =
            std::min(now + rules::refresh_back_off(static_cast<int>(attempts)), end);
        context_.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, organization);
            store::postpone_connection(org, removed.id, owner_, attempts, next);
        });
    }
    log_event(gives_up ? LogLevel::Warning : LogLevel::Info,
              gives_up ? "connection.never_given_back" : "connection.not_given_back",
              {{"provider", removed.provider},
               {"connection", removed.id.text()},
               {"code", code},
               {"attempt", attempts}});
}

void ConnectionRefresher::forget(OrgId organization, const RemovedConnection& removed) {
    context_.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        store::delete_connection(org, removed.id);
    });
}

}  // namespace muster::service
