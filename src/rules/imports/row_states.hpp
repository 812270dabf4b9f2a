// States and errors of the rows of an import job (specification 3.4, docs/api/imports.md).
#pragma once

#include "base/names.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::rules {

enum class AttributeResult : std::uint8_t;  // rules/attributes.hpp

using muster::text_of;

// The numbers are stored (rules/imports/block.hpp).
enum class RowState : std::uint8_t {
    Staged,
    Valid,
    Invalid,
    Created,
    Attached,
    Merged,
    Failed,
    Removed,
    Detached,
    Emptied,
    Kept
};

// created, attached, merged: the commit wrote the row.
[[nodiscard]] bool is_committed(RowState state);
// removed, detached, emptied, kept: results of an undo.
[[nodiscard]] bool is_undone(RowState state);

enum class RowError : std::uint8_t {
    None,
    DuplicateInFile,
    AttrInvalidValue,
    AttrUnknownKey,
    WriteFailed,
    FieldInvalid,
    ChangedSince,
    HasEvents,
    NotRecorded
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
inline constexpr std::array kNames<rules::RowState> = {
    Name{rules::RowState::Staged, "staged"},     Name{rules::RowState::Valid, "valid"},
    Name{rules::RowState::Invalid, "invalid"},   Name{rules::RowState::Created, "created"},
    Name{rules::RowState::Attached, "attached"}, Name{rules::RowState::Merged, "merged"},
    Name{rules::RowState::Failed, "failed"},     Name{rules::RowState::Removed, "removed"},
    Name{rules::RowState::Detached, "detached"}, Name{rules::RowState::Emptied, "emptied"},
    Name{rules::RowState::Kept, "kept"}};

template <>
inline constexpr std::array kNames<rules::RowError> = {
    Name{rules::RowError::None, ""},
    Name{rules::RowError::DuplicateInFile, "ROW_DUPLICATE_IN_FILE"},
    Name{rules::RowError::AttrInvalidValue, "ROW_ATTR_INVALID_VALUE"},
    Name{rules::RowError::AttrUnknownKey, "ROW_ATTR_UNKNOWN_KEY"},
    Name{rules::RowError::WriteFailed, "ROW_WRITE_FAILED"},
    Name{rules::RowError::FieldInvalid, "ROW_FIELD_INVALID"},
    Name{rules::RowError::ChangedSince, "ROW_CHANGED_SINCE"},
    Name{rules::RowError::HasEvents, "ROW_HAS_EVENTS"},
    Name{rules::RowError::NotRecorded, "ROW_NOT_RECORDED"}};

}  // namespace muster
