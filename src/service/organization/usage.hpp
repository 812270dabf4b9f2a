// What an organization uses of its limits.
#pragma once

#include "rules/organization/usage.hpp"
#include "service/context.hpp"

namespace muster::service {

// Counts up to each limit, so the work is bounded.
rules::OrganizationUsage organization_usage(Context& context, OrgId organization);

}  // namespace muster::service
