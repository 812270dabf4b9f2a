// Import jobs: their rows, their guarded moves from state to state, and the runner's lease on them.
// Every move names the state that it leaves and reports whether it happened.
#pragma once

#include "db/transaction.hpp"
#include "rules/imports/jobs.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::store {

// Jobs whose retention is over are gone for every function but find_expired_imports and
// delete_import, whether or not the purge has come by yet.

// The id of the active job that is in the way, or nullopt when the job was inserted.
std::optional<ImportId> insert_import(db::OrgStore& org, const rules::ImportJob& job);
std::optional<rules::ImportJob> find_import(db::OrgStore& org, ImportId id, Timestamp now);
std::optional<rules::ImportJob> lock_import(db::OrgStore& org, ImportId id, Timestamp now);

// Newest first, those before `before` (in that order) if given, of one state if given.
std::vector<rules::ImportJob> page_imports(db::OrgStore& org, std::optional<ImportId> before,
                                           std::optional<rules::ImportState> state, int limit,
                                           Timestamp now);

// staging only, and only up to `most` rows: false otherwise.
bool add_staged_rows(db::OrgStore& org, ImportId id, int added, std::int64_t most, Timestamp now);

// True when the job was in `from` and is in `to` now; counters for the next state are set as it
// needs them.
bool move_import(db::OrgStore& org, ImportId id, rules::ImportState from, rules::ImportState to,
                 Timestamp now);
// staging to validating with the wish to commit remembered.
bool move_import_to_validating(db::OrgStore& org, ImportId id, bool commit_requested,
                               Timestamp now);

// ---- the runner's side

struct ClaimedImport {
    OrgId organization;
    ImportId id;
    rules::ImportState state;
};
// Due for work: moving, with no live lease; the longest unserved first.
std::optional<ClaimedImport> find_due_import(db::Tx& tx, Timestamp now);
// Takes the lease; false when another runner was faster. Counts an attempt.
bool claim_import(db::OrgStore& org, ImportId id, const Uuid& owner, Timestamp now,
                  Timestamp until);
// Free for the next turn from `not_before` on. `forgive`: the turn does not count as an attempt.
void release_import(db::OrgStore& org, ImportId id, const Uuid& owner, bool forgive, Timestamp now,
                    Timestamp not_before);

struct ImportProgress {
    std::int64_t processed = 0;
    std::int64_t valid = 0;
    std::int64_t invalid = 0;
    std::int64_t created = 0;
    std::int64_t attached = 0;
    std::int64_t failed = 0;
    rules::ImportPreview preview;
};
// Adds to the counters of a job in `state` whose lease is `owner`'s; moves the cursor where one is
// given. Prolongs the lease and forgives attempts. False when the job is no longer in that state or
// the owner's.
bool add_import_progress(db::OrgStore& org, ImportId id, const Uuid& owner,
                         rules::ImportState state, const ImportProgress& progress,
                         std::optional<rules::BlockKey> next_block, Timestamp now, Timestamp until);
// A moving state to its end, by the owner of the lease.
bool finish_import(db::OrgStore& org, ImportId id, const Uuid& owner, rules::ImportState from,
                   rules::ImportState to, const std::optional<rules::ImportFailure>& failure,
                   Timestamp now);

// Jobs whose retention is over.
std::vector<ClaimedImport> find_expired_imports(db::Tx& tx, Timestamp now, int limit);
// False while the job has blocks, or when it is gone already.
bool delete_import(db::OrgStore& org, ImportId id);

struct ImportCount {
    rules::ImportState state;
    std::int64_t jobs = 0;
    std::int64_t oldest_heartbeat_ms = 0;
};
// Moving jobs of all organizations, for the metrics.
std::vector<ImportCount> count_moving_imports(db::Tx& tx, Timestamp now);

}  // namespace muster::store
