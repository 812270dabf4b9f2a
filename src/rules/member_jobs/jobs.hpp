// A member job: one change of all members of an organization that match a filter
// (docs/api/member-jobs.md "Member jobs").
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/record.hpp"
#include "base/time.hpp"
#include "rules/members/actions.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

using MemberJobId = Id<struct MemberJobTag>;

// The states of an import job without those of its rows: validating is the dry run.
enum class MemberJobState : std::uint8_t {
    Validating,
    Validated,
    Committing,
    Completed,
    Failed,
    Canceled
};

// validating, validated, committing. An organization can have only one active job.
constexpr bool is_active(MemberJobState state) {
    return state <= MemberJobState::Committing;
}
// validating, committing: the runner works on the job, so clients should keep polling.
constexpr bool is_in_progress(MemberJobState state) {
    return state == MemberJobState::Validating || state == MemberJobState::Committing;
}

// Numbers of matching members. Unchanged: a lock of a locked member, or an unlock of an active one.
struct MemberJobCounts {
    std::int64_t changed = 0;
    std::int64_t unchanged = 0;

    std::int64_t members() const { return changed + unchanged; }
};

struct MemberJobFailure {
    std::string code;
    std::string message;
};

struct MemberJob {
    MemberJobId id;
    OrgId organization_id;
    std::optional<AdminId> created_by_id;
    std::optional<std::string> created_by_email;
    std::optional<AdminId> committed_by_id;
    std::optional<std::string> committed_by_email;
    std::string request_id;  // of the commit, for the audit log; "" before
    MemberAction action = MemberAction::Lock;
    std::optional<std::string> reason;
    RawJson filter;  // rules/member_jobs/filter.hpp
    MemberJobState state = MemberJobState::Validating;
    std::int64_t processed_count = 0;  // of the current step
    std::optional<MemberJobCounts> preview;
    MemberJobCounts counts;
    std::string position;  // after the last member of the current step; "" at its beginning
    std::optional<MemberJobFailure> failure;
    int attempts = 0;
    Timestamp phase_started_at;
    std::optional<Timestamp> heartbeat_at;
    std::optional<Timestamp> completed_at;
    Timestamp expires_at;
    Timestamp created_at;
    Timestamp updated_at;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MemberJobState> = {
    Name{rules::MemberJobState::Validating, "validating"},
    Name{rules::MemberJobState::Validated, "validated"},
    Name{rules::MemberJobState::Committing, "committing"},
    Name{rules::MemberJobState::Completed, "completed"},
    Name{rules::MemberJobState::Failed, "failed"},
    Name{rules::MemberJobState::Canceled, "canceled"}};

}  // namespace muster
