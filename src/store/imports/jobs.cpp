#include "store/imports/jobs.hpp"

#include <stdexcept>

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::Rows;
using db::SystemSql;
using db::Why;
using rules::ImportState;

namespace {

// One list for every statement that reads whole jobs.
#define IMPORT_COLUMNS                                                                             \
    "organization_id, id, created_by_id, source, state, mapping, file_name, declared_total, "      \
    "staged_rows, processed_rows, valid_rows, invalid_rows, created_count, attached_count, "       \
    "failed_count, preview_create, preview_attach, preview_merge, failure_code, failure_message, " \
    "commit_requested, next_block, next_part, attempts, heartbeat_at, completed_at, expires_at, "  \
    "created_at, updated_at"

ImportState state_of(const std::string& text) {
    const auto state = rules::import_state(text);
    if (!state) throw std::runtime_error("an import job in an unknown state");
    return *state;
}

// The dry run's preview exists once it was finished: not before validated, and not for a job that
// ended earlier.
bool has_preview(const rules::ImportJob& job) {
    switch (job.state) {
        case ImportState::Validated:
        case ImportState::Committing:
        case ImportState::Completed:
            return true;
        case ImportState::Failed:
        case ImportState::Canceled:
            return job.staged_rows > 0 && job.valid_rows + job.invalid_rows == job.staged_rows;
        case ImportState::Staging:
        case ImportState::Validating:
            return false;
    }
    return false;
}

rules::ImportJob job_of(const Rows& rows) {
    rules::ImportJob job;
    job.organization_id = rows.id<OrgId>(1);
    job.id = rows.id<ImportId>(2);
    job.created_by_id = rows.optional_id<AdminId>(3);
    job.source =
        rows.bytes(4) == "console" ? rules::ImportSource::Console : rules::ImportSource::Api;
    job.state = state_of(rows.bytes(5));
    job.mapping = rows.bytes(6);
    job.file_name = rows.bytes(7);
    job.declared_total = rows.integer(8);
    job.staged_rows = rows.integer(9);
    job.processed_rows = rows.integer(10);
    job.valid_rows = rows.integer(11);
    job.invalid_rows = rows.integer(12);
    job.created_count = rows.integer(13);
    job.attached_count = rows.integer(14);
    job.failed_count = rows.integer(15);
    if (has_preview(job)) job.preview = {rows.integer(16), rows.integer(17), rows.integer(18)};
    if (!rows.is_null(19)) job.failure = {rows.bytes(19), rows.text_or_empty(20)};
    job.commit_requested = rows.integer(21) != 0;
    job.next_block = {static_cast<std::uint32_t>(rows.integer(22)),
                      static_cast<int>(rows.integer(23))};
    job.attempts = static_cast<int>(rows.integer(24));
    job.heartbeat_at = rows.optional_timestamp(25);
    job.completed_at = rows.optional_timestamp(26);
    job.expires_at = rows.timestamp(27);
    job.created_at = rows.timestamp(28);
    job.updated_at = rows.timestamp(29);
    return job;
}

std::optional<rules::ImportJob> one_job(Rows rows) {
    if (!rows.next()) return std::nullopt;
    return job_of(rows);
}

std::vector<ClaimedImport> claimed_of(Rows rows) {
    std::vector<ClaimedImport> list;
    while (rows.next()) {
        list.push_back({rows.id<OrgId>(1), rows.id<ImportId>(2), state_of(rows.bytes(3))});
    }
    return list;
}

}  // namespace

std::optional<ImportId> insert_import(db::OrgStore& org, const rules::ImportJob& job) {
    static constexpr OrgSql kInsert{"imports.insert",
                                    "INSERT INTO import_jobs (organization_id, id, created_by_id, "
                                    "source, state, mapping, file_name, "
                                    "declared_total, expires_at, created_at, updated_at) "
                                    "VALUES (:org, ?, ?, ?, 'staging', ?, ?, ?, ?, ?, ?)"};
    static constexpr OrgSql kActive{
        "imports.find_active",
        "SELECT id FROM import_jobs WHERE organization_id = :org AND active_slot = 1"};
    static constexpr OrgSql kFreeSlot{
        "imports.free_expired_slot",
        "UPDATE import_jobs SET state = 'canceled', revision = revision + 1 "
        "WHERE organization_id = :org AND active_slot = 1 AND expires_at <= ?"};
    const bool is_inserted = db::unless_taken([&] {
        org.execute(kInsert, job.id, job.created_by_id, text_of(job.source), job.mapping,
                    job.file_name, job.declared_total, job.expires_at, job.created_at,
                    job.updated_at);
    });
    if (is_inserted) return std::nullopt;
    if (org.execute(kFreeSlot, job.created_at) == 1) return insert_import(org, job);
    auto rows = org.query(kActive);
    if (!rows.next()) throw db::RetryTransaction{"the active import has just ended"};
    return rows.id<ImportId>(1);
}

std::optional<rules::ImportJob> find_import(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kFind{"imports.find",
                                  "SELECT " IMPORT_COLUMNS
                                  " FROM import_jobs "
                                  "WHERE organization_id = :org AND id = ? AND expires_at > ?"};
    return one_job(org.query(kFind, id, now));
}

std::optional<rules::ImportJob> lock_import(db::OrgStore& org, ImportId id, Timestamp now) {
    static constexpr OrgSql kLock{
        "imports.lock", "SELECT " IMPORT_COLUMNS
                        " FROM import_jobs "
                        "WHERE organization_id = :org AND id = ? AND expires_at > ? FOR UPDATE"};
    return one_job(org.query(kLock, id, now));
}

std::vector<rules::ImportJob> page_imports(db::OrgStore& org, std::optional<ImportId> before,
                                           std::optional<ImportState> state, int limit,
                                           Timestamp now) {
    // Ids are UUIDv7: their order is the order of creation.
    static constexpr OrgSql kPage{"imports.page",
                                  "SELECT " IMPORT_COLUMNS
                                  " FROM import_jobs WHERE organization_id = :org "
                                  "AND id < ? AND expires_at > ? ORDER BY id DESC LIMIT ?"};
    static constexpr OrgSql kPageOfState{
        "imports.page_of_state",
        "SELECT " IMPORT_COLUMNS
        " FROM import_jobs WHERE organization_id = :org "
        "AND id < ? AND expires_at > ? AND state = ? ORDER BY id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    Rows rows = state ? org.query(kPageOfState, bound, now, text_of(*state), limit)
                      : org.query(kPage, bound, now, limit);
    std::vector<rules::ImportJob> list;
    while (rows.next()) list.push_back(job_of(rows));
    return list;
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
    // A commit counts its progress out of all rows: the invalid ones are done with.
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

bool move_import_to_validating(db::OrgStore& org, ImportId id, bool commit_requested,
                               Timestamp now) {
    static constexpr OrgSql kMove{"imports.move_to_validating",
                                  "UPDATE import_jobs SET state = 'validating', commit_requested = "
                                  "?, lease_until = 0, served_at = 0, "
                                  "updated_at = ?, revision = revision + 1 "
                                  "WHERE organization_id = :org AND id = ? AND state = 'staging'"};
    return org.execute(kMove, commit_requested, now, id) == 1;
}

// ---------------------------------------------------------------------------- the runner's side

std::optional<ClaimedImport> find_due_import(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kFind{
        "imports.find_due", Why{"the runner serves all tenants; each row names its own"},
        "SELECT organization_id, id, state FROM import_jobs "
        "WHERE state IN ('validating', 'committing') AND lease_until <= ? AND expires_at > ? "
        "ORDER BY served_at, created_at LIMIT 1"};
    auto due = claimed_of(tx.query(kFind, now, now));
    if (due.empty()) return std::nullopt;
    return due.front();
}

bool claim_import(db::OrgStore& org, ImportId id, const Uuid& owner, Timestamp now,
                  Timestamp until) {
    static constexpr OrgSql kClaim{
        "imports.claim",
        "UPDATE import_jobs SET lease_owner = ?, lease_until = ?, served_at = ?, heartbeat_at = ?, "
        "attempts = attempts + 1, revision = revision + 1 WHERE organization_id = :org AND id = ? "
        "AND lease_until <= ? AND state IN ('validating', 'committing')"};
    return org.execute(kClaim, owner, until, now, now, id, now) == 1;
}

void release_import(db::OrgStore& org, ImportId id, const Uuid& owner, bool forgive, Timestamp now,
                    Timestamp not_before) {
    static constexpr OrgSql kRelease{
        "imports.release",
        "UPDATE import_jobs SET lease_owner = NULL, lease_until = ?, served_at = ?, "
        "attempts = GREATEST(attempts - ?, 0), revision = revision + 1 WHERE organization_id = :org AND id = ? AND lease_owner = ?"};
    org.execute(kRelease, not_before, now, forgive ? 1 : 0, id, owner);
}

bool add_import_progress(db::OrgStore& org, ImportId id, const Uuid& owner, ImportState state,
                         const ImportProgress& progress, std::optional<rules::BlockKey> next_block,
                         Timestamp now, Timestamp until) {
    static constexpr OrgSql kAdd{
        "imports.add_progress",
        "UPDATE import_jobs SET processed_rows = processed_rows + ?, valid_rows = valid_rows + ?, "
        "invalid_rows = invalid_rows + ?, created_count = created_count + ?, "
        "attached_count = attached_count + ?, failed_count = failed_count + ?, "
        "preview_create = preview_create + ?, preview_attach = preview_attach + ?, "
        "preview_merge = preview_merge + ?, next_block = COALESCE(?, next_block), "
        "next_part = COALESCE(?, next_part), attempts = 0, "
        "heartbeat_at = ?, lease_until = ?, updated_at = ?, revision = revision + 1 "
        "WHERE organization_id = :org AND id = ? AND lease_owner = ? AND state = ?"};
    const auto number = next_block ? std::optional(next_block->number) : std::nullopt;
    const auto part = next_block ? std::optional(next_block->part) : std::nullopt;
    return org.execute(kAdd, progress.processed, progress.valid, progress.invalid, progress.created,
                       progress.attached, progress.failed, progress.preview.create,
                       progress.preview.attach, progress.preview.merge, number, part, now, until,
                       now, id, owner, text_of(state)) == 1;
}

bool finish_import(db::OrgStore& org, ImportId id, const Uuid& owner, ImportState from,
                   ImportState to, const std::optional<rules::ImportFailure>& failure,
                   Timestamp now) {
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
        "imports.find_expired", Why{"retention is the installation's; each row names its tenant"},
        "SELECT organization_id, id, state FROM import_jobs "
        "WHERE expires_at <= ? ORDER BY expires_at LIMIT ?"};
    return claimed_of(tx.query(kFind, now, limit));
}

void delete_import(db::OrgStore& org, ImportId id) {
    static constexpr OrgSql kDelete{
        "imports.delete", "DELETE FROM import_jobs WHERE organization_id = :org AND id = ?"};
    org.execute(kDelete, id);
}

std::vector<ImportCount> count_moving_imports(db::Tx& tx, Timestamp now) {
    static constexpr SystemSql kCount{
        "imports.count_moving", Why{"a figure of the installation: no tenant's data in it"},
        "SELECT state, COUNT(*), MIN(GREATEST(COALESCE(heartbeat_at, 0), updated_at)) FROM import_jobs "
        "WHERE state IN ('validating', 'committing') AND expires_at > ? GROUP BY state"};
    std::vector<ImportCount> counts;
    for (auto rows = tx.query(kCount, now); rows.next();) {
        counts.push_back({state_of(rows.bytes(1)), rows.integer(2), rows.integer(3)});
    }
    return counts;
}

}  // namespace muster::store
