// An import job and its rows in the API.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"
#include "rules/imports/block_key.hpp"
#include "rules/imports/error_counts.hpp"
#include "rules/imports/row_faults.hpp"
#include "rules/imports/row_states.hpp"
#include "rules/imports/states.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

enum class ImportSource : std::uint8_t { Api, Console };

struct ImportFailure {
    std::string code;
    std::string message;
};

// The predicted result of a commit, from the dry run. It depends on the organization's own members
// only: a user whom only other organizations know counts as a new member, like an unknown address.
struct ImportPreview {
    std::int64_t new_members = 0;
    std::int64_t existing_members = 0;
};

// What an undo did with the rows that the commit wrote; or would do, in the reply to a dry run.
struct ImportUndo {
    std::int64_t removed = 0;
    std::int64_t detached = 0;
    std::int64_t emptied = 0;
    std::int64_t kept = 0;
    std::int64_t unaffected = 0;  // rows with nothing to take back
    bool is_estimate = false;     // scaled from a part of the rows

    std::int64_t rows() const { return removed + detached + emptied + kept + unaffected; }
};

struct ImportJob {
    ImportId id;
    OrgId organization_id;
    std::optional<AdminId> created_by_id;
    std::optional<std::string> created_by_email;
    ImportSource source = ImportSource::Api;
    ImportState state = ImportState::Staging;
    std::string mapping;  // JSON text {"columns":[…]}
    std::string file_name;
    std::int64_t declared_total = 0;
    std::int64_t staged_rows = 0;
    std::int64_t processed_rows = 0;
    std::int64_t valid_rows = 0;
    std::int64_t invalid_rows = 0;
    std::int64_t created_count = 0;
    std::int64_t attached_count = 0;
    std::int64_t failed_count = 0;
    std::optional<ImportFailure> failure;
    std::optional<ImportPreview> preview;
    std::optional<ImportUndo> undo;
    std::vector<ErrorCount> errors;
    // When the job entered its state; nullopt if that was before schema version 7.
    std::optional<Timestamp> phase_started_at;
    // 0: a runner works on the job. Otherwise the place among the waiting jobs, from 1. nullopt if
    // the job does not need a runner.
    std::optional<std::int64_t> queue_position;
    bool commit_requested = false;
    BlockKey next_block;
    int attempts = 0;
    bool is_leased = false;
    Timestamp lease_until;
    Timestamp served_at;
    std::optional<Timestamp> heartbeat_at;
    std::optional<Timestamp> completed_at;
    Timestamp expires_at;
    Timestamp created_at;
    Timestamp updated_at;
};

// A row in the API.
struct ImportRow {
    std::string id;  // <job_id>:<row_number>
    ImportId job_id;
    std::int64_t row_number = 0;
    RowState state = RowState::Staged;
    RowError error = RowError::None;
    std::string error_message;     // "" = no error
    std::vector<RowFault> faults;  // of a malformed row
    std::optional<UserId> user_id;
    std::string payload;  // JSON text
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::ImportSource> = {
    Name{rules::ImportSource::Api, "api"}, Name{rules::ImportSource::Console, "console"}};

}  // namespace muster
