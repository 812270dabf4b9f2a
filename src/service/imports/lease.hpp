// The runner's claim on an import job. A step writes outcomes and counters in one transaction under
// the lease. If a runner is killed, the job continues under the next runner's lease. A step that
// lost its lease changes nothing.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/imports/jobs.hpp"
#include "service/context.hpp"
#include "service/lease.hpp"

#include <optional>

namespace muster::service {

// A job under this runner's lease.
struct Lease {
    OrgId organization;
    ImportId id;
    Uuid owner;
};

// Claims the due job that has waited longest; nullopt if none is due. Throws DbError Gone if the
// result of the COMMIT is unknown. The claim is not retried, because it may have been applied and a
// second claim would count a second attempt. Such a job is due again when its lease expires.
std::optional<Lease> claim_due_import(Context& context, const Uuid& owner);
// Whether another job is due.
[[nodiscard]] bool is_another_import_due(Context& context);
// Releases the job, which is due again at once or after `pause`. Count keeps the turn as an
// attempt, Forgive does not count it.
void release_import(Context& context, const Lease& lease, AttemptPolicy policy, Milliseconds pause);
// Moves the job to failed.
void fail_import(Context& context, const Lease& lease, rules::ImportState from,
                 const rules::ImportFailure& failure);

// Moves the job to its next state. Throws LeaseLost.
void finish_stage(Context& context, const Lease& lease, rules::ImportState from,
                  rules::ImportState to);

}  // namespace muster::service
