#include "jobs/member_jobs.hpp"

#include "base/log.hpp"
#include "base/settings.hpp"
#include "jobs/retry_pause.hpp"
#include "service/failure.hpp"
#include "service/member_jobs/jobs.hpp"

#include <exception>

namespace muster::jobs {

using service::AttemptPolicy;
using service::MemberJobLease;

namespace {

// How long a turn lasts, so that the jobs of all organizations advance.
constexpr Milliseconds kMemberJobTurn{500};
constexpr Milliseconds kAfterTransientFailure{1000};

}  // namespace

MemberJobWork::MemberJobWork(service::Context& context) : context_(context), owner_(Uuid::v7()) {}

bool MemberJobWork::turn(const Deadline& deadline) {
    const auto lease = service::claim_due_member_job(context_, owner_);
    if (!lease) return false;
    try {
        if (lease->attempts > context_.settings.jobs.attempts) {
            fail_or_pause(*lease, "no attempt was completed");
        } else {
            run(*lease, deadline);
        }
    } catch (const service::LeaseLost&) {
        log_event(LogLevel::Info, "member_job.lease_lost", {{"job", lease->id.text()}});
        service::release_member_job(context_, *lease, AttemptPolicy::Forgive, Milliseconds(0));
    } catch (const std::exception& error) {
        if (service::is_transient_failure(error)) {
            service::release_member_job(context_, *lease, AttemptPolicy::Forgive,
                                        kAfterTransientFailure);
            throw;
        }
        fail_or_pause(*lease, error.what());
    }
    return true;
}

void MemberJobWork::run(const MemberJobLease& lease, const Deadline& deadline) {
    const Timestamp end = Timestamp::now() + kMemberJobTurn;
    while (service::run_member_job_unit(context_, lease)) {
        if (!deadline.over() && Timestamp::now() < end) continue;
        service::release_member_job(context_, lease, AttemptPolicy::Forgive, Milliseconds(0));
        return;
    }
    log_event(LogLevel::Info, "member_job.step_ended", {{"job", lease.id.text()}});
}

void MemberJobWork::fail_or_pause(const MemberJobLease& lease, std::string_view reason) {
    // Progress resets the stored number, also progress that this attempt made before it failed.
    const auto current = service::find_member_job(context_, lease.organization, lease.id);
    const int attempts = current ? current->attempts : lease.attempts;
    const bool is_last_attempt = attempts >= context_.settings.jobs.attempts;
    log_event(is_last_attempt ? LogLevel::Error : LogLevel::Warning, "member_job.attempt_failed",
              {{"job", lease.id.text()}, {"attempt", attempts}, {"reason", reason}});
    if (is_last_attempt) {
        service::fail_member_job(
            context_, lease,
            {"MEMBER_JOB_ATTEMPTS_EXHAUSTED",
             "The job failed after several attempts without progress. Create a new job."});
    } else {
        service::release_member_job(context_, lease, AttemptPolicy::Count, retry_pause(attempts));
    }
}

}  // namespace muster::jobs
