// Disables and enables an organization, for the operator.
#pragma once

#include "service/context.hpp"

namespace muster::service {

// From the next request on, no credential of the organization works, and admins have no seat in it.
// The runner stops its import, its webhooks and the refreshes of its connections. The data stays.
// Returns false if it is disabled already. Throws NOT_FOUND.
bool disable_organization(Context& context, OrgId organization);

// Everything works as before; what waited goes on. Returns false if it is active. Throws NOT_FOUND,
// and std::invalid_argument if the organization is being deleted.
bool enable_organization(Context& context, OrgId organization);

}  // namespace muster::service
