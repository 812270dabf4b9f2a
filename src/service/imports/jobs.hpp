// The states of an import job, as changed by the API and the operator (specification 3.1, 4.1;
// docs/api/imports.md "Imports"). Staging is in staging.hpp, the runner's steps in dry_run.hpp and
// commit.hpp, rows and the error report in rows.hpp.
#pragma once

#include "rules/imports/jobs.hpp"
#include "rules/imports/mapping.hpp"
#include "service/context.hpp"
#include "service/imports/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
struct LimitsSettings;
}

namespace muster::service {

struct NewImport {
    std::string file_name;
    std::int64_t declared_total = 0;
    rules::Mapping mapping;
};
// Creates a job. Throws IMPORT_MAPPING_INVALID, IMPORT_JOB_ACTIVE_EXISTS, QUOTA_EXCEEDED.
rules::ImportJob create_import(OrgTransaction& transaction, const LimitsSettings& limits,
                               const NewImport& in);

// Moves a job from staging to validating. Throws NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob validate_import(OrgTransaction& transaction, ImportId id);

// Moves a validated job to committing. With `dry_run` = false (the body's value; nullopt if
// absent), a staging job is validated first and then committed; with true, a validated job is
// returned unchanged. Throws NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob commit_import(OrgTransaction& transaction, ImportId id,
                               std::optional<bool> dry_run);

// Moves a validated job back to staging, so that corrected rows can replace theirs. Keeps its rows
// with the results of the dry run, and withdraws a requested commit. Returns a staging job
// unchanged. Throws NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob reopen_import(OrgTransaction& transaction, ImportId id);

// Cancels a job that is staging, validating or validated. Returns a canceled job unchanged. Throws
// NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob cancel_import(OrgTransaction& transaction, ImportId id);

// The same for the operator, in its own transaction.
void cancel_import_now(Context& context, OrgId organization, ImportId id);

// Reads the job, and changes nothing; nullopt if the organization does not have it.
std::optional<rules::ImportJob> read_import(Context& context, OrgId organization, ImportId id);

// Reads the job for polling; nullopt if the organization does not have it. A validated job with a
// requested commit moves to committing.
std::optional<rules::ImportJob> poll_import(Context& context, OrgId organization, ImportId id);

struct ImportPage {
    std::vector<rules::ImportJob> jobs;
    std::optional<ImportId> next;  // `before` of the next page; nullopt on the last page
};
// At most `limit` jobs, the newest first, before the job `before`. Large mappings make a page
// shorter, so that it is about 4 MiB at most.
ImportPage list_imports(Context& context, OrgId organization, std::optional<ImportId> before,
                        std::optional<rules::ImportState> state, int limit);

// For the steps of a job: locks the job, or throws NOT_FOUND.
rules::ImportJob lock_import(OrgTransaction& transaction, ImportId id);
// The same without a lock, for a reply.
rules::ImportJob find_import(OrgTransaction& transaction, ImportId id);
// Throws IMPORT_JOB_INVALID_STATE.
[[noreturn]] void reject_import_state(rules::ImportState state, std::string_view expected);

}  // namespace muster::service
