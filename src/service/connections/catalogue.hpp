// What admins see of providers of external data: which ones can be connected, and how an
// organization's connections stand (docs/external-data.md). How one comes to be is in
// connecting.hpp, what becomes of its tokens in connection_tokens.hpp.
#pragma once

#include "base/settings/providers.hpp"
#include "rules/connections/connection.hpp"
#include "rules/connections/providers.hpp"
#include "service/context.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct CatalogEntry {
    std::string provider;
    std::string name;
    std::string description;
    bool ready = false;
    std::string reason;  // "" where it is ready
};
// All providers, in the order of the specification.
std::vector<CatalogEntry> provider_catalog(const ProvidersSettings& settings);

// Throws PROVIDER_UNAVAILABLE unless the operator has set the provider up.
void require_ready(const rules::Provider& provider, const ProvidersSettings& settings);

// The connections of one of the admin's organizations as they stand, oldest first. One that nobody
// consented to in time is an error. Throws NOT_FOUND where the admin has no seat, and
// PROVIDER_UNAVAILABLE where no provider at all is set up.
std::vector<rules::ProviderConnection> list_connections(Context& context, AdminId admin,
                                                        OrgId organization);

// As it stands in truth: access that has ended is an error, though no runner has been there yet to
// renew it or to say so.
rules::ProviderConnection as_it_stands(rules::ProviderConnection connection, Timestamp now);
// What is said of a connection whose admin did not come back from that provider in time.
std::string overdue_text(const rules::Provider* provider);

}  // namespace muster::service
