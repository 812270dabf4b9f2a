// Import jobs: their records, their state transitions, and the runner's lease. Each transition
// names the expected state and returns false if the job is in another one.
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/jobs.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// Expired jobs are invisible to all functions except find_expired_imports() and delete_import(),
// even before they are purged.

// Inserts the job and returns nullopt, or returns the id of the organization's active job.
std::optional<ImportId> insert_import(db::OrgStore& org, const rules::ImportJob& job);
std::optional<rules::ImportJob> find_import(db::OrgStore& org, ImportId id, Timestamp now);
std::optional<rules::ImportJob> lock_import(db::OrgStore& org, ImportId id, Timestamp now);

// Newest first, from the job before `before` if it is given, with this state if it is given.
std::vector<rules::ImportJob> page_imports(db::OrgStore& org, std::optional<ImportId> before,
                                           std::optional<rules::ImportState> state, int limit,
                                           Timestamp now);

// False if the job is not in state staging, or would have more than `most` rows.
bool add_staged_rows(db::OrgStore& org, ImportId id, int added, std::int64_t most, Timestamp now);

// Moves the job from `from` to `to` and resets the counters of the new state. False if the job is
// not in `from`.
bool move_import(db::OrgStore& org, ImportId id, rules::ImportState from, rules::ImportState to,
                 Timestamp now);
// Moves from validated to committing. False if the job is not validated, or if no commit is
// requested any more.
bool start_requested_commit(db::OrgStore& org, ImportId id, Timestamp now);
// Moves from validated to staging and resets the results of the dry run. False if the job is not
// validated.
bool move_import_to_staging(db::OrgStore& org, ImportId id, Timestamp now);
void clear_row_errors(db::OrgStore& org, ImportId id);
// Moves from staging to validating and stores whether a commit was requested.
bool move_import_to_validating(db::OrgStore& org, ImportId id, bool commit_requested,
                               Timestamp now);

// Moves a completed or failed job to undoing. Returns nullopt, or the id of the organization's
// active job.
std::optional<ImportId> move_import_to_undoing(db::OrgStore& org, ImportId id, Timestamp now);

// Records when the job entered its state. The caller has just moved the job, so it holds the job's
// lock.
void begin_import_phase(db::OrgStore& org, ImportId id, Timestamp now);

// The number of jobs of all organizations that wait for a runner and are served before a job with
// these times; at most `most`.
int count_imports_ahead(db::Tx& tx, Timestamp served_at, Timestamp created_at, Timestamp now,
                        int most);

// ---- the runner

struct ClaimedImport {
    OrgId organization;
    ImportId id;
    rules::ImportState state;
};
// A job that is validating, committing or undoing, without a live lease; the least recently served
// first.
std::optional<ClaimedImport> find_due_import(db::Tx& tx, Timestamp now);
// Takes the lease and counts an attempt. False if another runner was faster.
bool claim_import(db::OrgStore& org, ImportId id, const Uuid& owner, Timestamp now,
                  Timestamp until);
// Ends the lease; the job is due at `not_before`. `uncount_attempt`: the attempt does not count.
void release_import(db::OrgStore& org, ImportId id, const Uuid& owner, bool uncount_attempt,
                    Timestamp now, Timestamp not_before);

struct ImportProgress {
    std::int64_t processed = 0;
    std::int64_t valid = 0;
    std::int64_t invalid = 0;
    std::int64_t created = 0;
    std::int64_t attached = 0;
    std::int64_t failed = 0;
    rules::ImportPreview preview;
};
// Adds to the counters of a job in `state` and moves the cursor to `next_block` if it is given.
// Extends the lease and resets the attempts. False if the job is in another state, the owner lost
// the lease, or the organization is disabled.
bool add_import_progress(db::OrgStore& org, ImportId id, const Uuid& owner,
                         rules::ImportState state, const ImportProgress& progress,
                         std::optional<rules::BlockKey> next_block, Timestamp now, Timestamp until);
// Adds to the job's counts of rows by error. The caller has just written the job, so it holds the
// job's lock.
void add_row_errors(db::OrgStore& org, ImportId id, const rules::ErrorCounts& more, Timestamp now);
// Ends validating, committing or undoing. False if the job is in another state or the owner lost
// the lease.
bool finish_import(db::OrgStore& org, ImportId id, const Uuid& owner, rules::ImportState from,
                   rules::ImportState to, const std::optional<rules::ImportFailure>& failure,
                   Timestamp now);

// The jobs whose retention time is over.
std::vector<ClaimedImport> find_expired_imports(db::Tx& tx, Timestamp now, int limit);
// False if the job still has blocks or does not exist.
bool delete_import(db::OrgStore& org, ImportId id);

struct ImportCount {
    rules::ImportState state;
    std::int64_t jobs = 0;
    std::int64_t oldest_heartbeat_ms = 0;
};
// The jobs of all organizations that are validating, committing or undoing, for the metrics.
std::vector<ImportCount> count_imports_in_progress(db::Tx& tx, Timestamp now);

}  // namespace muster::store
