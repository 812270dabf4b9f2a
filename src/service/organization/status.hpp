// Disables and enables an organization, for the operator.
#pragma once

#include "service/context.hpp"

namespace muster::service {

// Ends the work of runners for a disabled organization: they notice it at their next step. In a
// transaction of its own: the unit of an import locks its organization before its job, and that of
// a member job locks them in the other order.
void end_job_leases(Context& context, OrgId organization);

// From the next request on, no credential of the organization works, and admins have no seat in it.
// The runner stops its import, its webhooks and the refreshes of its connections. The data is kept.
// Returns false if it is disabled already. Throws NOT_FOUND.
bool disable_organization(Context& context, OrgId organization);

// Everything works as before; waiting jobs and deliveries continue. Returns false if it is active.
// Throws NOT_FOUND, and std::invalid_argument if the organization is being deleted.
bool enable_organization(Context& context, OrgId organization);

}  // namespace muster::service
