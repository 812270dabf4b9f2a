// The runner's claim on an import job. A step moves outcomes and counters in one transaction under
// the lease. A killed runner's job continues under the next runner's lease, and a step that lost
// its lease changes nothing.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/imports/jobs.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <optional>

namespace muster::service {

// A job under this runner's lease.
struct Lease {
    OrgId organization;
    ImportId id;
    Uuid owner;
};

// Thrown by a step whose job was canceled or claimed by another runner: stop without an error.
struct LeaseLost {};

// Claims the due job that waited longest; nullopt when none is due. Throws DbError Gone when
// the outcome of the COMMIT is unknown. The claim is then not repeated: it may have been applied,
// and a second one would count a second attempt. Such a job is due again at the end of its lease.
std::optional<Lease> claim_due_import(Context& context, const Uuid& owner);
// Whether some other job could be served right now.
[[nodiscard]] bool another_import_waits(Context& context);
// Ends a turn: the job is due at once, or after `pause`. Count keeps the turn as an attempt,
// Forgive takes it back.
enum class AttemptPolicy : std::uint8_t { Forgive, Count };
void release_import(Context& context, const Lease& lease, AttemptPolicy policy, Milliseconds pause);
// Moves the job to failed.
void fail_import(Context& context, const Lease& lease, rules::ImportState from,
                 const rules::ImportFailure& failure);

// The end of a lease that is renewed now.
Timestamp lease_end(const Context& context, Timestamp now);
// Moves the job to its next state. Throws LeaseLost.
void finish_stage(Context& context, const Lease& lease, rules::ImportState from,
                  rules::ImportState to);

}  // namespace muster::service
