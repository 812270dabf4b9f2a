// States of an import job (specification 3.1, docs/api/imports.md "Imports").
#pragma once

#include "base/names.hpp"

#include <cstdint>

namespace muster::rules {

using muster::text_of;

enum class ImportState : std::uint8_t {
    Staging,
    Validating,
    Validated,
    Committing,
    Completed,
    Failed,
    Canceled,
    Undoing,
    Undone
};

// staging, validating, validated, committing, undoing. An organization can have only one active
// job.
[[nodiscard]] bool is_active(ImportState state);
// validating, committing, undoing: the runner works on the job, so clients should keep polling.
[[nodiscard]] bool is_in_progress(ImportState state);
// staging, validating, validated.
[[nodiscard]] bool can_cancel(ImportState state);
// completed, failed: the states in which members may have been written.
[[nodiscard]] bool can_undo(ImportState state);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::ImportState> = {
    Name{rules::ImportState::Staging, "staging"},
    Name{rules::ImportState::Validating, "validating"},
    Name{rules::ImportState::Validated, "validated"},
    Name{rules::ImportState::Committing, "committing"},
    Name{rules::ImportState::Completed, "completed"},
    Name{rules::ImportState::Failed, "failed"},
    Name{rules::ImportState::Canceled, "canceled"},
    Name{rules::ImportState::Undoing, "undoing"},
    Name{rules::ImportState::Undone, "undone"}};

}  // namespace muster
