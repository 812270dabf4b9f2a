// Member jobs (table member_jobs).
#pragma once

#include "db/transaction.hpp"
#include "rules/member_jobs/jobs.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// Inserts a job in the state validating. Returns nullopt, or the id of the organization's active
// job.
std::optional<rules::MemberJobId> insert_member_job(db::OrgStore& org, const rules::MemberJob& job);
std::optional<rules::MemberJob> find_member_job(db::OrgStore& org, rules::MemberJobId id,
                                                Timestamp now);
// Locked until the transaction ends.
std::optional<rules::MemberJob> lock_member_job(db::OrgStore& org, rules::MemberJobId id,
                                                Timestamp now);
// Newest first, before `before`.
std::vector<rules::MemberJob> page_member_jobs(db::OrgStore& org,
                                               std::optional<rules::MemberJobId> before, int limit,
                                               Timestamp now);
// Moves a validated job to committing, for this admin (nullopt: a key) and request.
void move_member_job_to_committing(db::OrgStore& org, rules::MemberJobId id,
                                   const std::optional<AdminId>& admin, std::string_view request_id,
                                   Timestamp now);
void cancel_member_job(db::OrgStore& org, rules::MemberJobId id, Timestamp now);

// ---------------------------------------------------------------------------- the runner

struct DueMemberJob {
    OrgId organization;
    rules::MemberJobId id;
};
// The job that has waited longest for the runner; nullopt if none is due.
std::optional<DueMemberJob> find_due_member_job(db::Tx& tx, Timestamp now);
// False if another runner claimed it. Counts an attempt.
bool claim_member_job(db::OrgStore& org, rules::MemberJobId id, const Uuid& owner, Timestamp now,
                      Timestamp until);
// The job is due again at `not_before`. With `uncount_attempt`, the claim was no attempt.
void release_member_job(db::OrgStore& org, rules::MemberJobId id, const Uuid& owner,
                        bool uncount_attempt, Timestamp now, Timestamp not_before);
// Adds the counts of a unit in the state validating or committing, renews the lease, and forgets
// failed attempts. False if the lease is lost, or the organization is disabled.
bool add_member_job_progress(db::OrgStore& org, const rules::MemberJob& job, const Uuid& owner,
                             const rules::MemberJobCounts& counts, std::string_view position,
                             Timestamp now, Timestamp until);
// Moves a job on from `from`, without a lease. False if the lease is lost.
bool finish_member_job(db::OrgStore& org, rules::MemberJobId id, const Uuid& owner,
                       rules::MemberJobState from, rules::MemberJobState to,
                       const std::optional<rules::MemberJobFailure>& failure, Timestamp now);

}  // namespace muster::store
