// The catalog of external data providers and the state of an organization's connections
// (docs/external-data.md). service/connections/authorization.hpp creates connections;
// service/connections/tokens.hpp handles their tokens.
#pragma once

#include "base/settings/providers.hpp"
#include "rules/connections/connection.hpp"
#include "rules/connections/providers.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

// Retry-After of PROVIDER_UNAVAILABLE and of unreadable tokens: the operator has to act first.
inline constexpr int kProviderRetrySeconds = 60;

struct CatalogEntry {
    std::string provider;
    std::string name;
    std::string description;
    bool ready = false;
    std::string reason;  // "" if the provider is ready
};
// All providers in the order of the specification.
std::vector<CatalogEntry> provider_catalog(const ProvidersSettings& settings);

// Throws PROVIDER_UNAVAILABLE unless the operator has set the provider up.
void require_ready(const rules::Provider& provider, const ProvidersSettings& settings);

// The current connections of one of the admin's organizations, oldest first. A connection whose
// authorization timed out has the status error. Throws NOT_FOUND if the admin has no seat there,
// PROVIDER_UNAVAILABLE if no provider is set up.
std::vector<rules::ProviderConnection> list_connections(Context& context, AdminId admin,
                                                        OrgId organization);

// One of the organization's connections with its current status.
std::optional<rules::ProviderConnection> find_connection(Context& context, OrgId organization,
                                                         ConnectionId id);

// The connection with its current status: expired access is an error even before a runner renewed
// it or recorded the error.
rules::ProviderConnection current_state(rules::ProviderConnection connection, Timestamp now);
// The error of a connection whose authorization timed out.
std::string overdue_text(const rules::Provider* provider);

}  // namespace muster::service
