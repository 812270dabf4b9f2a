#include "service/member_jobs/run.hpp"

#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "rules/member_jobs/filter.hpp"
#include "service/imports/members.hpp"
#include "service/members/change.hpp"
#include "service/members/filter.hpp"
#include "service/quotas.hpp"
#include "store/member_jobs/jobs.hpp"
#include "store/members/list.hpp"

namespace muster::service {
namespace {

using rules::MemberAction;
using rules::MemberJob;
using rules::MemberJobCounts;
using rules::MemberJobState;

// Calls that change one of these members wait for the unit.
constexpr int kMembersPerUnit = 100;
constexpr int kPredictedPerUnit = 250;
// Of the members' attributes, which a unit holds in memory and writes again: into their rows, and
// up to 64 into one INSERT of events. That statement must stay below the 16 MiB of the server's
// max_allowed_packet. An audit entry has less than 1 KiB.
constexpr std::int64_t kBytesPerUnit = std::int64_t{4} << 20U;

MemberFilter member_filter(const rules::MemberJobFilter& of) {
    MemberFilter filter;
    filter.prefix = of.prefix;
    filter.updated_since = of.updated_since;
    if (of.status) filter.status = std::string(text_of(*of.status));
    filter.order = MemberOrder::Stable;
    filter.country = of.country;
    filter.attributes = of.attributes;
    if (of.imported_by) filter.source = members_of_import(*of.imported_by);
    return filter;
}

// Members with another status are not changed; nullopt: all are.
std::optional<std::string> changed_status(MemberAction action) {
    if (action == MemberAction::Remove) return std::nullopt;
    const bool locks = action == MemberAction::Lock;
    return std::string(text_of(locks ? rules::MemberStatus::Active : rules::MemberStatus::Locked));
}

MemberJobCounts predicted(db::OrgStore& org, const MemberJob& job,
                          const std::vector<UserId>& users) {
    MemberFilter changed;
    changed.status = changed_status(job.action);
    const auto all = static_cast<std::int64_t>(users.size());
    if (!changed.status) return {all, 0};
    const auto count = static_cast<std::int64_t>(matching_members(org, users, changed).size());
    return {count, all - count};
}

// Ends the unit before the member that exceeds kBytesPerUnit, but after the first one. Locks the
// members.
void limit_bytes(db::OrgStore& org, MemberRun& unit) {
    auto bytes = store::lock_member_sizes(org, unit.users);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < unit.users.size(); ++i) {
        sum += bytes[unit.users[i]];
        if (i == 0 || sum <= kBytesPerUnit) continue;
        unit.next = unit.positions[i - 1];
        unit.users.resize(i);
        return;
    }
}

MemberJobCounts committed(db::Tx& tx, const MemberJobLease& lease, const MemberJob& job,
                          const MemberFilter& filter, const std::vector<UserId>& users,
                          Timestamp now) {
    OrgTransaction transaction{
        tx, {lease.organization, job.committed_by_id, std::nullopt, job.request_id}, now};
    const auto changes =
        change_matching_members(transaction, users, filter, job.action, job.reason);
    return {changes.changed, changes.unchanged};
}

// As for single calls: members cannot be changed beyond the limits of the day, but they can be
// removed. Only the entries of admins have a limit.
void reject_beyond_day(Context& context, db::OrgStore& org, const MemberJob& job, Timestamp now) {
    if (job.state != MemberJobState::Committing || job.action == MemberAction::Remove) return;
    const auto reject = [&](rules::Quota quota) {
        reject_used_up(org, quota, maximum_of(quota, context.settings.limits), now);
    };
    reject(rules::Quota::MemberBytes);
    if (job.committed_by_id) reject(rules::Quota::AuditEntries);
}

std::string quota_failure(const Error& error) {
    const bool is_log =
        error.details()["quota"] == std::string(text_of(rules::Quota::AuditEntries));
    return std::string(is_log ? "The audit log of the day is full."
                              : "The bytes of members and their webhook events of the day are used "
                                "up.") +
           " Create the job again tomorrow; it continues with the members that were not changed.";
}

bool run_unit(Context& context, const MemberJobLease& lease, db::Tx& tx) {
    const Timestamp now = Timestamp::now();
    db::OrgStore org(tx, lease.organization);
    const auto job = store::lock_member_job(org, lease.id, now);
    if (!job || !rules::is_in_progress(job->state)) throw LeaseLost{};
    reject_beyond_day(context, org, *job, now);
    const auto filter = member_filter(rules::parse_filter(job->filter.text));
    const bool is_dry_run = job->state == MemberJobState::Validating;
    auto found = find_next_members(org, filter, job->position,
                                   is_dry_run ? kPredictedPerUnit : kMembersPerUnit);
    if (!is_dry_run) limit_bytes(org, found);
    MemberJobCounts counts;
    if (!found.users.empty()) {
        counts = is_dry_run ? predicted(org, *job, found.users)
                            : committed(tx, lease, *job, filter, found.users, now);
    }
    if (!store::add_member_job_progress(org, *job, lease.owner, counts, found.next.value_or(""),
                                        now, lease_end(context, now))) {
        throw LeaseLost{};
    }
    if (found.next) return true;
    const auto to = is_dry_run ? MemberJobState::Validated : MemberJobState::Completed;
    store::finish_member_job(org, lease.id, lease.owner, job->state, to, std::nullopt, now);
    return false;
}

}  // namespace

std::optional<MemberJobLease> claim_due_member_job(Context& context, const Uuid& owner) {
    return context.database.transaction([&](db::Tx& tx) -> std::optional<MemberJobLease> {
        const Timestamp now = Timestamp::now();
        // A job that another runner claims at the same time is no longer due after the claim
        // waited.
        while (const auto due = store::find_due_member_job(tx, now)) {
            db::OrgStore org(tx, due->organization);
            if (!store::claim_member_job(org, due->id, owner, now, lease_end(context, now))) {
                continue;
            }
            const auto job = store::find_member_job(org, due->id, now);
            if (!job) continue;
            return MemberJobLease{due->organization, due->id, owner, job->state, job->attempts};
        }
        return std::nullopt;
    });
}

void release_member_job(Context& context, const MemberJobLease& lease, AttemptPolicy policy,
                        Milliseconds pause) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        const Timestamp now = Timestamp::now();
        store::release_member_job(org, lease.id, lease.owner, policy == AttemptPolicy::Forgive, now,
                                  now + pause);
    });
}

void fail_member_job(Context& context, const MemberJobLease& lease,
                     const rules::MemberJobFailure& failure) {
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, lease.organization);
        store::finish_member_job(org, lease.id, lease.owner, lease.state, MemberJobState::Failed,
                                 failure, Timestamp::now());
    });
}

bool run_member_job_unit(Context& context, const MemberJobLease& lease) {
    try {
        return context.database.transaction(
            [&](db::Tx& tx) { return run_unit(context, lease, tx); });
    } catch (const Error& error) {
        if (error.code() != ErrorCode::QuotaExceeded) throw;
        fail_member_job(context, lease, {"QUOTA_EXCEEDED", quota_failure(error)});
        return false;
    }
}

}  // namespace muster::service
