#include "service/connections/catalogue.hpp"

#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/connections/oauth.hpp"
#include "service/access/seats.hpp"
#include "store/connections/connections.hpp"

#include <algorithm>

namespace muster::service {
namespace {

using rules::ConnectionStatus;
using rules::Provider;
using rules::ProviderConnection;

// The maximum duration of a code exchange; the authorization is already deleted by then.
constexpr Milliseconds kExchangeLife{60L * 1000};

bool is_overdue(const store::ListedConnection& listed, Timestamp now) {
    if (listed.connection.status != ConnectionStatus::Pending) return false;
    return listed.authorization_expires_at.value_or(listed.connection.updated_at + kExchangeLife) <=
           now;
}

std::string name_of(const Provider* provider) {
    return std::string(provider ? provider->name : "the provider");
}

ProviderConnection shown(store::ListedConnection listed, Timestamp now) {
    if (is_overdue(listed, now)) {
        listed.connection.status = ConnectionStatus::Error;
        listed.connection.error = overdue_text(rules::find_provider(listed.connection.provider));
    }
    return current_state(std::move(listed.connection), now);
}

void require_any_ready(const ProvidersSettings& settings) {
    const auto providers = rules::providers();
    const bool any = std::any_of(providers.begin(), providers.end(), [&](const Provider& provider) {
        return rules::missing_settings(provider, settings).empty();
    });
    if (any) return;
    throw Error(ErrorCode::ProviderUnavailable)
        .detail("reason", "no provider is set up")
        .retry_after(kProviderRetrySeconds);
}

}  // namespace

std::vector<CatalogEntry> provider_catalog(const ProvidersSettings& settings) {
    std::vector<CatalogEntry> entries;
    for (const Provider& provider : rules::providers()) {
        std::string reason = rules::missing_settings(provider, settings);
        entries.push_back({std::string(provider.id), std::string(provider.name),
                           std::string(provider.description), reason.empty(), std::move(reason)});
    }
    return entries;
}

void require_ready(const Provider& provider, const ProvidersSettings& settings) {
    const std::string reason = rules::missing_settings(provider, settings);
    if (reason.empty()) return;
    throw Error(ErrorCode::ProviderUnavailable)
        .detail("reason", reason)
        .retry_after(kProviderRetrySeconds);
}

std::vector<ProviderConnection> list_connections(Context& context, AdminId admin,
                                                 OrgId organization) {
    if (!role_in(context, admin, organization)) throw Error(ErrorCode::NotFound);
    require_any_ready(context.settings.providers);
    auto listed = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::list_connections(org);
    });
    const Timestamp now = Timestamp::now();
    std::vector<ProviderConnection> connections;
    for (auto& one : listed) connections.push_back(shown(std::move(one), now));
    return connections;
}

std::optional<ProviderConnection> find_connection(Context& context, OrgId organization,
                                                  ConnectionId id) {
    auto found = context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_listed_connection(org, id);
    });
    return found ? std::optional(shown(std::move(*found), Timestamp::now())) : std::nullopt;
}

ProviderConnection current_state(ProviderConnection connection, Timestamp now) {
    const bool has_ended = connection.access_expires_at && *connection.access_expires_at <= now;
    if (connection.status != ConnectionStatus::Connected || !has_ended) return connection;
    connection.status = ConnectionStatus::Error;
    if (!connection.error) {
        connection.error = "The access to " + name_of(rules::find_provider(connection.provider)) +
                           " has expired and was not renewed in time.";
    }
    return connection;
}

std::string overdue_text(const Provider* provider) {
    return "The authorization at " + name_of(provider) +
           " was not completed in time. Connect it again.";
}

}  // namespace muster::service
