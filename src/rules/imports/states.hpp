// States of an import job and of its rows (specification 3.1, docs/api.md "Imports").
#pragma once

#include "rules/attributes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

enum class ImportState : std::uint8_t {
    Staging,
    Validating,
    Validated,
    Committing,
    Completed,
    Failed,
    Canceled
};
std::string_view text_of(ImportState state);
std::optional<ImportState> import_state(std::string_view text);
// staging, validating, validated, committing: such a job holds its organization's only slot.
[[nodiscard]] bool is_active(ImportState state);
// validating, committing: the runner works on it, a poll is worth repeating.
[[nodiscard]] bool is_moving(ImportState state);
// staging, validating, validated.
[[nodiscard]] bool can_cancel(ImportState state);

enum class RowState : std::uint8_t { Staged, Valid, Invalid, Created, Attached, Merged, Failed };
std::string_view text_of(RowState state);
std::optional<RowState> row_state(std::string_view text);

enum class RowError : std::uint8_t {
    None,
    DuplicateInFile,
    AttrInvalidValue,
    AttrUnknownKey,
    WriteFailed
};
// "ROW_DUPLICATE_IN_FILE" and so on (the contract); None: "".
std::string_view text_of(RowError error);
// None for a good value.
RowError row_error_of(AttributeVerdict verdict);
// A sentence for a person; `key` is the attribute's, where one is to blame.
std::string row_error_message(RowError error, std::string_view key);

}  // namespace muster::rules
