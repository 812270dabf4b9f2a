// What the runner does for an organization when it is disabled.
#pragma once

#include "db/transaction.hpp"

namespace muster::store {

// The runners that work on the organization's active import and member job lose their leases, so
// their steps fail.
void end_job_leases(db::OrgStore& org);

}  // namespace muster::store
