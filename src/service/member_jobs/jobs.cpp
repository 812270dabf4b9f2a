#include "service/member_jobs/jobs.hpp"

#include "base/error.hpp"
#include "base/faults.hpp"
#include "db/transaction.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/member_jobs/jobs.hpp"

namespace muster::service {
namespace {

using rules::MemberAction;
using rules::MemberJob;
using rules::MemberJobId;
using rules::MemberJobState;

constexpr Milliseconds kMemberJobRetention = std::chrono::days(30);

void reject_faulty(const NewMemberJob& in) {
    Faults faults;
    if (in.filter == rules::MemberJobFilter()) {
        faults.add("filter", FieldCode::Required,
                   "has no condition; name at least one, such as updated_since", {});
    }
    if (in.reason && in.action != MemberAction::Lock) {
        faults.add("reason", FieldCode::InvalidValue, "is only for the action lock; omit it", {});
    }
    if (!faults.empty()) throw Error(ErrorCode::ValidationError).fields(faults);
}

[[noreturn]] void reject_member_job_state(MemberJobState state, const std::string& expected) {
    const std::string now(text_of(state));
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "the job is " + now + "; this is only for a job that is " + expected)
        .detail("state", now)
        .detail("expected", expected);
}

MemberJob locked_member_job(db::OrgStore& org, MemberJobId id, Timestamp now) {
    auto job = store::lock_member_job(org, id, now);
    if (!job) throw Error(ErrorCode::NotFound);
    return std::move(*job);
}

MemberJob changed_member_job(db::OrgStore& org, MemberJobId id, Timestamp now) {
    auto job = store::find_member_job(org, id, now);
    if (!job) throw Error(ErrorCode::NotFound);
    return std::move(*job);
}

}  // namespace

MemberJob create_member_job(OrgTransaction& transaction, const NewMemberJob& in) {
    reject_faulty(in);
    MemberJob job;
    job.id = MemberJobId::create();
    job.organization_id = transaction.org();
    job.created_by_id = transaction.actor.admin;
    job.created_by_email = transaction.actor.admin_email;
    job.action = in.action;
    job.reason = in.reason;
    job.filter.text = rules::filter_json(in.filter);
    job.phase_started_at = job.created_at = job.updated_at = transaction.now;
    job.expires_at = transaction.now + kMemberJobRetention;
    db::OrgStore org(transaction.tx, transaction.org());
    if (const auto active = store::insert_member_job(org, job)) {
        throw Error(ErrorCode::InvalidState)
            .detail("reason", "the organization already has an active member job")
            .detail("job_id", active->text());
    }
    take(org, rules::Quota::MemberJobs, 1, rules::kMostMemberJobs, transaction.now);
    audit(transaction, "member_job.created", job.id.text(),
          {{"action", std::string(text_of(job.action))}});
    return job;
}

MemberJob commit_member_job(OrgTransaction& transaction, MemberJobId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    const auto job = locked_member_job(org, id, transaction.now);
    if (job.state != MemberJobState::Validated) reject_member_job_state(job.state, "validated");
    store::move_member_job_to_committing(org, id, transaction.actor.admin,
                                         transaction.actor.request_id, transaction.now);
    audit(transaction, "member_job.committed", id.text(),
          {{"action", std::string(text_of(job.action))}});
    return changed_member_job(org, id, transaction.now);
}

MemberJob cancel_member_job(OrgTransaction& transaction, MemberJobId id) {
    db::OrgStore org(transaction.tx, transaction.org());
    auto job = locked_member_job(org, id, transaction.now);
    if (job.state == MemberJobState::Canceled) return job;
    if (!rules::is_active(job.state)) {
        reject_member_job_state(job.state, "validating, validated or committing");
    }
    store::cancel_member_job(org, id, transaction.now);
    audit(transaction, "member_job.canceled", id.text(),
          {{"action", std::string(text_of(job.action))}});
    return changed_member_job(org, id, transaction.now);
}

std::optional<MemberJob> find_member_job(Context& context, OrgId organization, MemberJobId id) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::find_member_job(org, id, Timestamp::now());
    });
}

std::vector<MemberJob> list_member_jobs(Context& context, OrgId organization,
                                        std::optional<MemberJobId> before, int limit) {
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_member_jobs(org, before, limit, Timestamp::now());
    });
}

}  // namespace muster::service
