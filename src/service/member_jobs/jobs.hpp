// Member jobs for their callers: create, commit, cancel, read (docs/api/member-jobs.md "Member
// jobs"). service/member_jobs/run.hpp has the steps of the runner.
#pragma once

#include "rules/member_jobs/filter.hpp"
#include "rules/member_jobs/jobs.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace muster::service {

struct NewMemberJob {
    rules::MemberAction action = rules::MemberAction::Lock;
    std::optional<std::string> reason;  // of a lock
    rules::MemberJobFilter filter;
};

// Creates a job in the state validating. Throws VALIDATION_ERROR if the filter has no condition or
// a reason is given for another action, INVALID_STATE if the organization has an active job,
// QUOTA_EXCEEDED.
rules::MemberJob create_member_job(OrgTransaction& transaction, const NewMemberJob& in);
// Moves a validated job to committing. Throws NOT_FOUND, INVALID_STATE.
rules::MemberJob commit_member_job(OrgTransaction& transaction, rules::MemberJobId id);
// Cancels an active job; what a commit has changed remains. A canceled job is not changed. Throws
// NOT_FOUND, INVALID_STATE.
rules::MemberJob cancel_member_job(OrgTransaction& transaction, rules::MemberJobId id);

std::optional<rules::MemberJob> find_member_job(Context& context, OrgId organization,
                                                rules::MemberJobId id);
// At most `limit` jobs, newest first, before `before`.
std::vector<rules::MemberJob> list_member_jobs(Context& context, OrgId organization,
                                               std::optional<rules::MemberJobId> before, int limit);

}  // namespace muster::service
