// The life of an import job as the API and the operator drive it (specification 3.1, 4.1;
// docs/api/imports.md "Imports"). What the runner does with it is in dry_run.hpp and commit.hpp;
// rows and the error report in service/imports/rows.hpp.
#pragma once

#include "rules/imports/jobs.hpp"
#include "rules/imports/mapping.hpp"
#include "rules/members/fields.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::service {

inline constexpr std::int64_t kMostImportRows = 250'000;
inline constexpr std::size_t kMostStagedAtOnce = 5'000;

struct NewImport {
    std::string file_name;
    std::int64_t declared_total = 0;
    rules::Mapping mapping;
};
// Throws IMPORT_MAPPING_INVALID, IMPORT_JOB_ACTIVE_EXISTS.
rules::ImportJob create_import(OrgTransaction& transaction, const NewImport& in);

struct NewRow {
    std::int64_t number = 0;
    rules::MemberFields fields;
};
// Stages all or nothing; a number that was staged before is replaced. Throws VALIDATION_ERROR for a
// number twice, NOT_FOUND, IMPORT_JOB_INVALID_STATE, IMPORT_ROW_LIMIT_EXCEEDED.
void stage_rows(OrgTransaction& transaction, ImportId id, const std::vector<NewRow>& rows);

// staging to validating. NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob validate_import(OrgTransaction& transaction, ImportId id);

// `dry_run`: nullopt, or what the body says. validated to committing; from staging with dry_run
// false, validation first and the wish remembered. NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob commit_import(OrgTransaction& transaction, ImportId id,
                               std::optional<bool> dry_run);

// From staging, validating, validated; a canceled one stays. NOT_FOUND, IMPORT_JOB_INVALID_STATE.
rules::ImportJob cancel_import(OrgTransaction& transaction, ImportId id);

// The same for the operator, in a transaction of its own.
void cancel_import_now(Context& context, OrgId organization, ImportId id);

std::optional<rules::ImportJob> read_import(Context& context, OrgId organization, ImportId id);

// A poll: a validated job whose commit was wished for moves on. nullopt: no such job here.
std::optional<rules::ImportJob> poll_import(Context& context, const Actor& actor, ImportId id);

// Newest first; up to `limit` + 1, where the last tells that there is more.
std::vector<rules::ImportJob> list_imports(Context& context, OrgId organization,
                                           std::optional<ImportId> before,
                                           std::optional<rules::ImportState> state, int limit);

}  // namespace muster::service
