// The summary of an organization.
#pragma once

#include "rules/organization/summary.hpp"
#include "service/context.hpp"

namespace muster::service {

// Counts up to bounds, so the work does not grow with the organization.
rules::OrganizationSummary summarize_organization(Context& context, OrgId organization);

}  // namespace muster::service
