#include "store/imports/jobs.hpp"

#include "base/text.hpp"

#include <functional>

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
using rules::BlockKey;
using rules::ImportFailure;
using rules::ImportJob;
using rules::ImportPreview;
using rules::ImportState;
using rules::ImportUndo;

namespace {

// The preview exists after a complete dry run: not before `validated`, and not for a job that ended
// during the dry run. Programs of schema version 7 and older counted attached users separately.
constexpr auto kPreview = columns<ImportPreview>(
    column<&ImportPreview::new_members>(
        "CASE WHEN state IN ('validated', 'committing', 'completed', 'undoing', 'undone') "
        "OR (state IN ('failed', 'canceled') AND staged_rows > 0 "
        "AND valid_rows + invalid_rows = staged_rows) THEN preview_create + preview_attach END"),
    column<&ImportPreview::existing_members>("preview_merge"));

constexpr auto kFailure = columns<ImportFailure>(
    column<&ImportFailure::code>("failure_code"),
    converted<or_empty<std::string>, &ImportFailure::message>("failure_message"));

// The counts of import_undos, in one column: each column is a lookup of its own.
constexpr std::string_view kUndoCounts =
    "(SELECT CONCAT_WS(',', u.removed_count, u.detached_count, u.emptied_count, u.kept_count, "
    "u.unaffected_count) FROM import_undos u "
    "WHERE u.organization_id = import_jobs.organization_id AND u.job_id = import_jobs.id)";

std::optional<ImportUndo> undo_counts(const std::optional<std::string>& text) {
    if (!text) return std::nullopt;
    std::vector<std::int64_t> counts;
    for (const std::string_view part : split(*text, ',')) {
        counts.push_back(parse_number<std::int64_t>(part).value_or(0));
    }
    counts.resize(5);
    return ImportUndo{counts[0], counts[1], counts[2], counts[3], counts[4]};
}

std::vector<rules::ErrorCount> error_counts(const std::optional<std::string>& json) {
    return rules::decode_error_counts(json.value_or("")).list();
}

constexpr auto kJob = columns<ImportJob>(
    column<&ImportJob::organization_id>("organization_id"), column<&ImportJob::id>("id"),
    column<&ImportJob::created_by_id>("created_by_id"),
    column<&ImportJob::created_by_email>(
        "(SELECT e.email FROM admins e WHERE e.id = created_by_id)"),
    column<&ImportJob::source>("source"), column<&ImportJob::state>("state"),
    column<&ImportJob::mapping>("mapping"), column<&ImportJob::file_name>("file_name"),
    column<&ImportJob::declared_total>("declared_total"),
    column<&ImportJob::staged_rows>("staged_rows"),
    column<&ImportJob::processed_rows>("processed_rows"),
    column<&ImportJob::valid_rows>("valid_rows"), column<&ImportJob::invalid_rows>("invalid_rows"),
    column<&ImportJob::created_count>("created_count"),
    column<&ImportJob::attached_count>("attached_count"),
    column<&ImportJob::failed_count>("failed_count"), nested<&ImportJob::preview>(kPreview),
    converted<undo_counts, &ImportJob::undo>(kUndoCounts), nested<&ImportJob::failure>(kFailure),
    converted<error_counts, &ImportJob::errors>(
        "(SELECT p.row_errors FROM import_progress p "
        "WHERE p.organization_id = import_jobs.organization_id AND p.job_id = import_jobs.id)"),
    column<&ImportJob::phase_started_at>(
        "(SELECT p.phase_started_at FROM import_progress p "
        "WHERE p.organization_id = import_jobs.organization_id AND p.job_id = import_jobs.id)"),
    column<&ImportJob::commit_requested>("commit_requested"),
    column<&ImportJob::next_block, &BlockKey::number>("next_block"),
    column<&ImportJob::next_block, &BlockKey::part>("next_part"),
    column<&ImportJob::attempts>("attempts"),
    column<&ImportJob::is_leased>("lease_owner IS NOT NULL"),
    column<&ImportJob::lease_until>("lease_until"), column<&ImportJob::served_at>("served_at"),
    column<&ImportJob::heartbeat_at>("heartbeat_at"),
    column<&ImportJob::completed_at>("completed_at"), column<&ImportJob::expires_at>("expires_at"),
    column<&ImportJob::created_at>("created_at"), column<&ImportJob::updated_at>("updated_at"));

constexpr auto kClaimed = columns<ClaimedImport>(
    column<&ClaimedImport::organization>("organization_id"), column<&ClaimedImport::id>("id"),
    column<&ClaimedImport::state>("state"));

constexpr auto kCounted = columns<ImportCount>(
    column<&ImportCount::state>("state"), column<&ImportCount::jobs>("COUNT(*)"),
    column<&ImportCount::oldest_heartbeat_ms>(
        "MIN(GREATEST(COALESCE(heartbeat_at, 0), updated_at))"));

// Runs `write`, which makes a job active. Returns nullopt, or the id of the organization's active
// job.
std::optional<ImportId> activate(db::OrgStore& org, Timestamp now,
                                 const std::function<void()>& write) {
    static constexpr OrgSql kActive{
        "imports.find_active",
        "SELECT id FROM import_jobs WHERE organization_id = :org AND active_job = 1"};
    // An undo that was not finished in time has written members, but nothing waits for the rest.
    static constexpr OrgSql kFreeSlot{
        "imports.free_expired_slot",
        "UPDATE import_jobs SET state = IF(state = 'undoing', 'undone', 'canceled'), "
        "revision = revision + 1 "
        "WHERE organization_id = :org AND active_job = 1 AND expires_at <= ?"};
    if (db::try_unique(write)) return std::nullopt;
    if (org.execute(kFreeSlot, now) == 1) return activate(org, now, write);
    const auto active = org.one<ImportId>(kActive);
    if (!active) throw db::RetryTransaction{"the active import ended at the same time"};
    return active;
}

}  // namespace

std::optional<ImportId> insert_import(db::OrgStore& org, const ImportJob& job) {
    static constexpr OrgSql kInsert{"imports.insert",
                                    "INSERT INTO import_jobs (organization_id, id, created_by_id, "
                                    "source, state, mapping, file_name, "
                                    "declared_total, expires_at, created_at, updated_at) "
                                    "VALUES (:org, ?, ?, ?, 'staging', ?, ?, ?, ?, ?, ?)"};
    return activate(org, job.created_at, [&] {
        org.execute(kInsert, job.id, job.created_by_id, text_of(job.source), job.mapping,
                    job.file_name, job.declared_total, job.expires_at, job.created_at,
                    job.updated_at);
    });
}

std::optional<ImportJob> find_import(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kFind{"imports.find", kJob,
                                  "SELECT {columns} FROM import_jobs "
                                  "WHERE organization_id = :org AND id = ? AND expires_at > ?"};
    return org.one(kFind, id, now);
}

std::optional<ImportJob> lock_import(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kLock{
        "imports.lock", kJob,
        "SELECT {columns} FROM import_jobs "
        "WHERE organization_id = :org AND id = ? AND expires_at > ? FOR UPDATE"};
    return org.one(kLock, id, now);
}

std::vector<ImportJob> page_imports(db::OrgStore& org, std::optional<ImportId> before,
                                    std::optional<ImportState> state, int limit, Timestamp now) {
    // Ids are UUIDv7, so they are ordered by creation time.
    static constexpr OrgSql kPage{
        "imports.page", kJob,
        "SELECT {columns} FROM import_jobs FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND id < ? AND expires_at > ? ORDER BY id DESC LIMIT ?"};
    static constexpr OrgSql kPageOfState{
        "imports.page_of_state", kJob,
        "SELECT {columns} FROM import_jobs FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND id < ? AND expires_at > ? AND state = ? ORDER BY id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    return state ? org.all(kPageOfState, bound, now, *state, limit)
                 : org.all(kPage, bound, now, limit);
}

bool add_staged_rows(db::OrgStore& org, ImportId id, int added, std::int64_t most, Timestamp now) {
    static constexpr OrgSql kAdd{
        "imports.add_staged_rows",
        "UPDATE import_jobs SET staged_rows = staged_rows + ?, updated_at = ?, revision = revision "
        "+ 1 "
        "WHERE organization_id = :org AND id = ? AND state = 'staging' AND staged_rows + ? <= ?"};
    return org.execute(kAdd, added, now, id, added, most) == 1;
}

bool move_import(db::OrgStore& org, ImportId id, ImportState from, ImportState to, Timestamp now) {
    // The progress of a commit counts all rows; invalid rows count as processed.
    static constexpr OrgSql kMove{
        "imports.move",
        "UPDATE import_jobs SET processed_rows = IF(? = 'committing', invalid_rows, "
        "processed_rows), "
        "completed_at = IF(? = 'canceled', ?, completed_at), attempts = 0, next_block = 0, "
        "next_part = 0, "
        "lease_until = 0, served_at = 0, commit_requested = FALSE, "
        "state = ?, updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND state = ?"};
    return org.execute(kMove, text_of(to), text_of(to), now, text_of(to), now, id, text_of(from)) ==
           1;
}

bool start_requested_commit(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kMove{
        "imports.start_requested_commit",
        "UPDATE import_jobs SET processed_rows = invalid_rows, attempts = 0, next_block = 0, "
        "next_part = 0, lease_until = 0, served_at = 0, commit_requested = FALSE, "
        "state = 'committing', updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND state = 'validated' AND commit_requested"};
    return org.execute(kMove, now, id) == 1;
}

bool move_import_to_staging(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kMove{
        "imports.move_to_staging",
        "UPDATE import_jobs SET state = 'staging', processed_rows = 0, valid_rows = 0, "
        "invalid_rows = 0, preview_create = 0, preview_attach = 0, preview_merge = 0, "
        "commit_requested = FALSE, next_block = 0, next_part = 0, attempts = 0, "
        "updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND state = 'validated'"};
    return org.execute(kMove, now, id) == 1;
}

void clear_row_errors(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kClear{"imports.clear_row_errors",
                                   "UPDATE import_progress SET row_errors = NULL "
                                   "WHERE organization_id = :org AND job_id = ?"};
    org.execute(kClear, id);
}

std::optional<ImportId> move_import_to_undoing(db::OrgStore& org, ImportId id, Timestamp now) {
    // The progress of an undo counts all rows; those that the commit did not write count as
    // processed, and those of an earlier attempt too.
    static constexpr OrgSql kMove{
        "imports.move_to_undoing",
        "UPDATE import_jobs SET processed_rows = staged_rows - created_count - attached_count "
        "+ (SELECT u.removed_count + u.detached_count + u.emptied_count + u.kept_count "
        "+ u.unaffected_count FROM import_undos u "
        "WHERE u.organization_id = :org AND u.job_id = import_jobs.id), "
        "completed_at = NULL, failure_code = NULL, failure_message = NULL, attempts = 0, "
        "lease_until = 0, served_at = 0, state = 'undoing', updated_at = ?, "
        "revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND state IN ('completed', 'failed')"};
    static constexpr OrgSql kInsert{
        "imports.insert_undo",
        "INSERT IGNORE INTO import_undos (organization_id, job_id) VALUES (:org, ?)"};
    org.execute(kInsert, id);
    return activate(org, now, [&] { org.execute(kMove, now, id); });
}

bool move_import_to_validating(db::OrgStore& org, ImportId id, bool commit_requested,
                               Timestamp now) {
    static constexpr OrgSql kMove{"imports.move_to_validating",
                                  "UPDATE import_jobs SET state = 'validating', commit_requested = "
                                  "?, lease_until = 0, served_at = 0, "
                                  "updated_at = ?, revision = revision + 1 "
                                  "WHERE organization_id = :org AND id = ? AND state = 'staging'"};
    return org.execute(kMove, commit_requested, now, id) == 1;
}

void begin_import_phase(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kBegin{
        "imports.begin_phase",
        "INSERT INTO import_progress (organization_id, job_id, phase_started_at) "
        "VALUES (:org, ?, ?) "
        "ON DUPLICATE KEY UPDATE phase_started_at = VALUES(phase_started_at)"};
    org.execute(kBegin, id, now);
}

int count_imports_ahead(db::Tx& tx, Timestamp served_at, Timestamp created_at, Timestamp now,
                        int most) {
    static constexpr SystemSql kCount{
        "imports.count_ahead",
        Why{"all tenants share one queue; only the number of waiting jobs is returned"},
        "SELECT COUNT(*) FROM (SELECT 1 FROM import_jobs FORCE INDEX (work) "
        "WHERE state IN ('validating', 'committing', 'undoing') AND served_at <= ? "
        "AND (served_at < ? OR created_at < ?) AND lease_until <= ? AND expires_at > ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = import_jobs.organization_id) IS NULL "
        "LIMIT ?) AS ahead"};
    return tx.value<int>(kCount, served_at, served_at, created_at, now, now, most);
}

// ---------------------------------------------------------------------------- the runner

std::optional<ClaimedImport> find_due_import(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kFind{
        "imports.find_due", Why{"the runner serves all tenants; each row names its tenant"},
        kClaimed,
        "SELECT {columns} FROM import_jobs FORCE INDEX (work) "
        "WHERE state IN ('validating', 'committing', 'undoing') AND lease_until <= ? "
        "AND expires_at > ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = import_jobs.organization_id) IS NULL "
        "ORDER BY served_at, created_at LIMIT 1"};
    return tx.one(kFind, now, now);
}

bool claim_import(db::OrgStore& org, ImportId id, const Uuid& owner, Timestamp now,
                  Timestamp until) {
    // The subquery names the job's column and not :org, so it is evaluated for the locked row:
    // after the wait for a transaction that disables the organization.
    static constexpr OrgSql kClaim{
        "imports.claim",
        "UPDATE import_jobs SET lease_owner = ?, lease_until = ?, served_at = ?, heartbeat_at = ?, "
        "attempts = attempts + 1, revision = revision + 1 WHERE organization_id = :org AND id = ? "
        "AND lease_until <= ? AND state IN ('validating', 'committing', 'undoing') "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = import_jobs.organization_id) IS NULL"};
    return org.execute(kClaim, owner, until, now, now, id, now) == 1;
}

void release_import(db::OrgStore& org, ImportId id, const Uuid& owner, bool uncount_attempt,
                    Timestamp now, Timestamp not_before) {
    static constexpr OrgSql kRelease{
        "imports.release",
        "UPDATE import_jobs SET lease_owner = NULL, lease_until = ?, served_at = ?, "
        "attempts = GREATEST(attempts - ?, 0), revision = revision + 1 WHERE organization_id = :org AND id = ? AND lease_owner = ?"};
    org.execute(kRelease, not_before, now, uncount_attempt ? 1 : 0, id, owner);
}

bool add_import_progress(db::OrgStore& org, ImportId id, const Uuid& owner, ImportState state,
                         const ImportProgress& progress, std::optional<rules::BlockKey> next_block,
                         Timestamp now, Timestamp until) {
    static constexpr OrgSql kAdd{
        "imports.add_progress",
        "UPDATE import_jobs SET processed_rows = processed_rows + ?, valid_rows = valid_rows + ?, "
        "invalid_rows = invalid_rows + ?, created_count = created_count + ?, "
        "attached_count = attached_count + ?, failed_count = failed_count + ?, "
        "preview_create = preview_create + ?, preview_merge = preview_merge + ?, "
        "next_block = COALESCE(?, next_block), "
        "next_part = COALESCE(?, next_part), attempts = 0, "
        "heartbeat_at = ?, lease_until = ?, updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ? AND state = ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = import_jobs.organization_id) IS NULL"};
    const auto number = next_block ? std::optional(next_block->number) : std::nullopt;
    const auto part = next_block ? std::optional(next_block->part) : std::nullopt;
    return org.execute(kAdd, progress.processed, progress.valid, progress.invalid, progress.created,
                       progress.attached, progress.failed, progress.preview.new_members,
                       progress.preview.existing_members, number, part, now, until, now, id, owner,
                       text_of(state)) == 1;
}

void add_row_errors(db::OrgStore& org, ImportId id, const rules::ErrorCounts& more, Timestamp now) {
    static constexpr OrgSql kLock{"imports.lock_row_errors",
                                  "SELECT COALESCE(row_errors, '') FROM import_progress "
                                  "WHERE organization_id = :org AND job_id = ? FOR UPDATE"};
    static constexpr OrgSql kWrite{
        "imports.write_row_errors",
        "INSERT INTO import_progress (organization_id, job_id, phase_started_at, row_errors) "
        "VALUES (:org, ?, ?, ?) ON DUPLICATE KEY UPDATE row_errors = VALUES(row_errors)"};
    if (more.empty()) return;
    rules::ErrorCounts counts =
        rules::decode_error_counts(org.one<std::string>(kLock, id).value_or(""));
    counts.add(more);
    org.execute(kWrite, id, now, rules::encode_error_counts(counts));
}

bool finish_import(db::OrgStore& org, ImportId id, const Uuid& owner, ImportState from,
                   ImportState to, const std::optional<ImportFailure>& failure, Timestamp now) {
    static constexpr OrgSql kFinish{
        "imports.finish",
        "UPDATE import_jobs SET state = ?, failure_code = ?, failure_message = ?, "
        "completed_at = IF(? = 'validated', NULL, ?), lease_owner = NULL, lease_until = 0, "
        "heartbeat_at = ?, updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ? AND state = ?"};
    const std::string code = failure ? failure->code : "";
    const std::string message = failure ? failure->message : "";
    return org.execute(kFinish, text_of(to), Param::text_or_null(code),
                       Param::text_or_null(message), text_of(to), now, now, now, id, owner,
                       text_of(from)) == 1;
}

std::vector<ClaimedImport> find_expired_imports(db::Tx& tx, Timestamp now, int limit) {
    static constexpr SystemSql kFind{
        "imports.find_expired", Why{"retention is per installation; each row names its tenant"},
        kClaimed,
        "SELECT {columns} FROM import_jobs FORCE INDEX (expires_at) "
        "WHERE expires_at <= ? ORDER BY expires_at LIMIT ?"};
    return tx.all(kFind, now, limit);
}

bool delete_import(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kDelete{
        "imports.delete",
        "DELETE FROM import_jobs WHERE organization_id = :org AND id = ? AND NOT EXISTS "
        "(SELECT 1 FROM import_blocks b WHERE b.organization_id = import_jobs.organization_id "
        "AND b.job_id = import_jobs.id)"};
    return org.execute(kDelete, id) == 1;
}

std::vector<ImportCount> count_imports_in_progress(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kCount{
        "imports.count_moving", Why{"a metric of the installation without tenant data"}, kCounted,
        "SELECT {columns} FROM import_jobs FORCE INDEX (work) "
        "WHERE state IN ('validating', 'committing', 'undoing') AND expires_at > ? "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = import_jobs.organization_id) IS NULL "
        "GROUP BY state"};
    return tx.all(kCount, now);
}

}  // namespace muster::store
