#include "store/member_jobs/jobs.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;
using rules::MemberJob;
using rules::MemberJobCounts;
using rules::MemberJobFailure;
using rules::MemberJobId;
using rules::MemberJobState;

namespace {

// The preview exists after a complete dry run.
constexpr auto kPreview = columns<MemberJobCounts>(
    column<&MemberJobCounts::changed>("IF(validated_at IS NULL, NULL, preview_changed)"),
    column<&MemberJobCounts::unchanged>("preview_unchanged"));
constexpr auto kFailure = columns<MemberJobFailure>(
    column<&MemberJobFailure::code>("failure_code"),
    converted<or_empty<std::string>, &MemberJobFailure::message>("failure_message"));

constexpr auto kJob = columns<MemberJob>(
    column<&MemberJob::organization_id>("organization_id"), column<&MemberJob::id>("id"),
    column<&MemberJob::created_by_id>("created_by_id"),
    column<&MemberJob::created_by_email>(
        "(SELECT e.email FROM admins e WHERE e.id = created_by_id)"),
    column<&MemberJob::committed_by_id>("committed_by_id"),
    column<&MemberJob::committed_by_email>(
        "(SELECT e.email FROM admins e WHERE e.id = committed_by_id)"),
    converted<or_empty<std::string>, &MemberJob::request_id>("request_id"),
    column<&MemberJob::action>("action"), column<&MemberJob::reason>("reason"),
    column<&MemberJob::filter>("filter"), column<&MemberJob::state>("state"),
    column<&MemberJob::processed_count>("processed_count"), nested<&MemberJob::preview>(kPreview),
    column<&MemberJob::counts, &MemberJobCounts::changed>("changed_count"),
    column<&MemberJob::counts, &MemberJobCounts::unchanged>("unchanged_count"),
    column<&MemberJob::position>("position"), nested<&MemberJob::failure>(kFailure),
    column<&MemberJob::attempts>("attempts"),
    column<&MemberJob::phase_started_at>("phase_started_at"),
    column<&MemberJob::heartbeat_at>("heartbeat_at"),
    column<&MemberJob::completed_at>("completed_at"), column<&MemberJob::expires_at>("expires_at"),
    column<&MemberJob::created_at>("created_at"), column<&MemberJob::updated_at>("updated_at"));

constexpr auto kDue = columns<DueMemberJob>(column<&DueMemberJob::organization>("organization_id"),
                                            column<&DueMemberJob::id>("id"));

}  // namespace

std::optional<MemberJobId> insert_member_job(db::OrgStore& org, const MemberJob& job) {
    static constexpr OrgSql kInsert{
        "member_jobs.insert",
        "INSERT INTO member_jobs (organization_id, id, created_by_id, action, reason, filter, "
        "state, position, phase_started_at, expires_at, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, 'validating', '', ?, ?, ?, ?)"};
    static constexpr OrgSql kActive{
        "member_jobs.find_active",
        "SELECT id FROM member_jobs WHERE organization_id = :org AND active_job = 1"};
    static constexpr OrgSql kFreeSlot{"member_jobs.free_expired_slot",
                                      "UPDATE member_jobs SET state = 'canceled' "
                                      "WHERE organization_id = :org AND active_job = 1 "
                                      "AND expires_at <= ?"};
    org.execute(kFreeSlot, job.created_at);
    const bool is_inserted = db::try_unique([&] {
        org.execute(kInsert, job.id, job.created_by_id, text_of(job.action), job.reason,
                    job.filter.text, job.phase_started_at, job.expires_at, job.created_at,
                    job.updated_at);
    });
    if (is_inserted) return std::nullopt;
    const auto active = org.one<MemberJobId>(kActive);
    if (!active) throw db::RetryTransaction{"the active member job ended at the same time"};
    return active;
}

std::optional<MemberJob> find_member_job(db::OrgStore& org, MemberJobId id, Timestamp now) {
    static constexpr OrgSql kFind{"member_jobs.find", kJob,
                                  "SELECT {columns} FROM member_jobs "
                                  "WHERE organization_id = :org AND id = ? AND expires_at > ?"};
    return org.one(kFind, id, now);
}

std::optional<MemberJob> lock_member_job(db::OrgStore& org, MemberJobId id, Timestamp now) {
    static constexpr OrgSql kLock{
        "member_jobs.lock", kJob,
        "SELECT {columns} FROM member_jobs "
        "WHERE organization_id = :org AND id = ? AND expires_at > ? FOR UPDATE"};
    return org.one(kLock, id, now);
}

std::vector<MemberJob> page_member_jobs(db::OrgStore& org, std::optional<MemberJobId> before,
                                        int limit, Timestamp now) {
    // Ids are UUIDv7, so they are ordered by creation time.
    static constexpr OrgSql kPage{
        "member_jobs.page", kJob,
        "SELECT {columns} FROM member_jobs FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND id < ? AND expires_at > ? ORDER BY id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    return org.all(kPage, bound, now, limit);
}

void move_member_job_to_committing(db::OrgStore& org, MemberJobId id,
                                   const std::optional<AdminId>& admin, std::string_view request_id,
                                   Timestamp now) {
    static constexpr OrgSql kMove{
        "member_jobs.move_to_committing",
        "UPDATE member_jobs SET state = 'committing', committed_by_id = ?, request_id = ?, "
        "processed_count = 0, position = '', attempts = 0, lease_until = 0, served_at = 0, "
        "phase_started_at = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ? AND state = 'validated'"};
    org.execute(kMove, admin, Param::text_or_null(request_id), now, now, id);
}

void cancel_member_job(db::OrgStore& org, MemberJobId id, Timestamp now) {
    static constexpr OrgSql kCancel{
        "member_jobs.cancel",
        "UPDATE member_jobs SET state = 'canceled', lease_owner = NULL, phase_started_at = ?, "
        "completed_at = ?, updated_at = ? WHERE organization_id = :org AND id = ? "
        "AND state IN ('validating', 'validated', 'committing')"};
    org.execute(kCancel, now, now, now, id);
}

std::optional<DueMemberJob> find_due_member_job(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kFind{
        "member_jobs.find_due", Why{"the runner serves all tenants; each row names its tenant"},
        kDue,
        "SELECT {columns} FROM member_jobs FORCE INDEX (work) "
        "WHERE state IN ('validating', 'committing') AND lease_until <= ? AND expires_at > ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = member_jobs.organization_id) "
        "IS NULL ORDER BY served_at, created_at LIMIT 1"};
    return tx.one(kFind, now, now);
}

bool claim_member_job(db::OrgStore& org, MemberJobId id, const Uuid& owner, Timestamp now,
                      Timestamp until) {
    // The subquery names the job's column and not :org, so it is evaluated for the locked row:
    // after the wait for a transaction that disables the organization.
    static constexpr OrgSql kClaim{
        "member_jobs.claim",
        "UPDATE member_jobs SET lease_owner = ?, lease_until = ?, served_at = ?, heartbeat_at = ?, "
        "attempts = attempts + 1 WHERE organization_id = :org AND id = ? "
        "AND lease_until <= ? AND state IN ('validating', 'committing') "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = member_jobs.organization_id) "
        "IS NULL"};
    return org.execute(kClaim, owner, until, now, now, id, now) == 1;
}

void release_member_job(db::OrgStore& org, MemberJobId id, const Uuid& owner, bool uncount_attempt,
                        Timestamp now, Timestamp not_before) {
    static constexpr OrgSql kRelease{
        "member_jobs.release",
        "UPDATE member_jobs SET lease_owner = NULL, lease_until = ?, served_at = ?, "
        "attempts = GREATEST(attempts - ?, 0) "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ?"};
    org.execute(kRelease, not_before, now, uncount_attempt ? 1 : 0, id, owner);
}

bool add_member_job_progress(db::OrgStore& org, const MemberJob& job, const Uuid& owner,
                             const MemberJobCounts& counts, std::string_view position,
                             Timestamp now, Timestamp until) {
    static constexpr OrgSql kAdd{
        "member_jobs.add_progress",
        "UPDATE member_jobs SET processed_count = processed_count + ?, "
        "preview_changed = preview_changed + ?, preview_unchanged = preview_unchanged + ?, "
        "changed_count = changed_count + ?, unchanged_count = unchanged_count + ?, position = ?, "
        "attempts = 0, heartbeat_at = ?, lease_until = ?, updated_at = GREATEST(updated_at + 1, ?) "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ? AND state = ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = member_jobs.organization_id) "
        "IS NULL"};
    const bool is_dry_run = job.state == MemberJobState::Validating;
    const MemberJobCounts none;
    const MemberJobCounts& predicted = is_dry_run ? counts : none;
    const MemberJobCounts& done = is_dry_run ? none : counts;
    return org.execute(kAdd, counts.members(), predicted.changed, predicted.unchanged, done.changed,
                       done.unchanged, position, now, until, now, job.id, owner,
                       text_of(job.state)) == 1;
}

bool finish_member_job(db::OrgStore& org, MemberJobId id, const Uuid& owner, MemberJobState from,
                       MemberJobState to, const std::optional<MemberJobFailure>& failure,
                       Timestamp now) {
    static constexpr OrgSql kFinish{
        "member_jobs.finish",
        "UPDATE member_jobs SET validated_at = IF(? = 'validated', ?, validated_at), "
        "completed_at = IF(? = 'validated', NULL, ?), failure_code = ?, failure_message = ?, "
        "lease_owner = NULL, phase_started_at = ?, updated_at = ?, state = ? "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ? AND state = ?"};
    const auto code = failure ? std::optional(failure->code) : std::nullopt;
    const auto message = failure ? std::optional(failure->message) : std::nullopt;
    return org.execute(kFinish, text_of(to), now, text_of(to), now, code, message, now, now,
                       text_of(to), id, owner, text_of(from)) == 1;
}

}  // namespace muster::store
