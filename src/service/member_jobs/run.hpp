// The runner's steps of a member job. A unit changes up to 100 members, or as many as have
// 4 MiB of attributes, and counts them in one transaction. It runs under the lease of the runner,
// so a killed runner loses or repeats none.
#pragma once

#include "rules/member_jobs/jobs.hpp"
#include "service/lease.hpp"

#include <cstdint>
#include <optional>

namespace muster::service {

// A job under this runner's lease.
struct MemberJobLease {
    OrgId organization;
    rules::MemberJobId id;
    Uuid owner;
    rules::MemberJobState state{};  // when it was claimed
    int attempts = 0;               // including this one
};

// Claims the due job that has waited longest; nullopt if none is due.
std::optional<MemberJobLease> claim_due_member_job(Context& context, const Uuid& owner);
// Releases the job, which is due again after `pause`. Count keeps the turn as an attempt.
void release_member_job(Context& context, const MemberJobLease& lease, AttemptPolicy policy,
                        Milliseconds pause);
// Moves the job to failed.
void fail_member_job(Context& context, const MemberJobLease& lease,
                     const rules::MemberJobFailure& failure);

// Processes the next members of the job. Without further ones, moves it to validated or completed.
// Returns whether the job is still in its state. A lock or unlock fails the job if MemberBytes of
// the day are used up, and that of an admin also if the audit log of the day is full. Throws
// LeaseLost if the job was canceled or claimed by another runner.
bool run_member_job_unit(Context& context, const MemberJobLease& lease);

}  // namespace muster::service
