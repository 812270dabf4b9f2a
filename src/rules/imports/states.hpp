// States of an import job and of its rows (specification 3.1, docs/api/imports.md "Imports").
#pragma once

#include "base/names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

enum class AttributeResult : std::uint8_t;  // rules/attributes.hpp

using muster::text_of;

enum class ImportState : std::uint8_t {
    Staging,
    Validating,
    Validated,
    Committing,
    Completed,
    Failed,
    Canceled
};

// staging, validating, validated, committing. An organization can have only one active job.
[[nodiscard]] bool is_active(ImportState state);
// validating, committing: the runner works on the job, so clients should keep polling.
[[nodiscard]] bool is_in_progress(ImportState state);
// staging, validating, validated.
[[nodiscard]] bool can_cancel(ImportState state);

enum class RowState : std::uint8_t { Staged, Valid, Invalid, Created, Attached, Merged, Failed };

enum class RowError : std::uint8_t {
    None,
    DuplicateInFile,
    AttrInvalidValue,
    AttrUnknownKey,
    WriteFailed,
    FieldInvalid
};

// None for a valid value.
RowError row_error_of(AttributeResult result);
// A sentence for a person. `key` is the key of the invalid attribute, or the path of the first
// invalid field of a malformed row.
std::string row_error_message(RowError error, std::string_view key);
// The path of the invalid field in the payload, such as "email" or "attributes.phone"; "" if the
// error is not about a field.
std::string row_error_field(RowError error, std::string_view key);

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
    Name{rules::ImportState::Canceled, "canceled"}};

template <>
inline constexpr std::array kNames<rules::RowState> = {
    Name{rules::RowState::Staged, "staged"},     Name{rules::RowState::Valid, "valid"},
    Name{rules::RowState::Invalid, "invalid"},   Name{rules::RowState::Created, "created"},
    Name{rules::RowState::Attached, "attached"}, Name{rules::RowState::Merged, "merged"},
    Name{rules::RowState::Failed, "failed"}};

template <>
inline constexpr std::array kNames<rules::RowError> = {
    Name{rules::RowError::None, ""},
    Name{rules::RowError::DuplicateInFile, "ROW_DUPLICATE_IN_FILE"},
    Name{rules::RowError::AttrInvalidValue, "ROW_ATTR_INVALID_VALUE"},
    Name{rules::RowError::AttrUnknownKey, "ROW_ATTR_UNKNOWN_KEY"},
    Name{rules::RowError::WriteFailed, "ROW_WRITE_FAILED"},
    Name{rules::RowError::FieldInvalid, "ROW_FIELD_INVALID"}};

}  // namespace muster
