// The states' texts stand in the order of their enums; each is the contract of the API and of the
// database alike.
#include "rules/imports/states.hpp"

#include <algorithm>
#include <array>

namespace muster::rules {
namespace {

constexpr std::array<std::string_view, 7> kImportStates = {
    "staging", "validating", "validated", "committing", "completed", "failed", "canceled"};
constexpr std::array<std::string_view, 7> kRowStates = {"staged",   "valid",  "invalid", "created",
                                                        "attached", "merged", "failed"};
constexpr std::array<std::string_view, 5> kRowErrors = {"", "ROW_DUPLICATE_IN_FILE",
                                                        "ROW_ATTR_INVALID_VALUE",
                                                        "ROW_ATTR_UNKNOWN_KEY", "ROW_WRITE_FAILED"};

template <class Enum, std::size_t Count>
std::optional<Enum> value_of(const std::array<std::string_view, Count>& texts,
                             std::string_view text) {
    const auto found = std::find(texts.begin(), texts.end(), text);
    if (found == texts.end()) return std::nullopt;
    return static_cast<Enum>(found - texts.begin());
}

std::string named(std::string_view key) {
    if (key.empty()) return "An attribute";
    return std::string("The attribute \"").append(key).append("\"");
}

}  // namespace

std::string_view text_of(ImportState state) {
    return kImportStates[static_cast<std::size_t>(state)];
}
std::optional<ImportState> import_state(std::string_view text) {
    return value_of<ImportState>(kImportStates, text);
}

bool is_active(ImportState state) {
    return can_cancel(state) || state == ImportState::Committing;
}

bool is_moving(ImportState state) {
    return state == ImportState::Validating || state == ImportState::Committing;
}

bool can_cancel(ImportState state) {
    return state == ImportState::Staging || state == ImportState::Validating ||
           state == ImportState::Validated;
}

std::string_view text_of(RowState state) {
    return kRowStates[static_cast<std::size_t>(state)];
}
std::optional<RowState> row_state(std::string_view text) {
    return value_of<RowState>(kRowStates, text);
}

std::string_view text_of(RowError error) {
    return kRowErrors[static_cast<std::size_t>(error)];
}

std::string row_error_message(RowError error, std::string_view key) {
    switch (error) {
        case RowError::None:
            return "";
        case RowError::DuplicateInFile:
            return "An earlier row of this import has the same email address.";
        case RowError::AttrInvalidValue:
            return named(key) + " cannot have this value.";
        case RowError::AttrUnknownKey:
            return named(key) + " is not enabled for this organization.";
        case RowError::WriteFailed:
            return "The row could not be written; it can be imported again.";
    }
    return "";
}

RowError row_error_of(AttributeVerdict verdict) {
    switch (verdict) {
        case AttributeVerdict::Good:
            return RowError::None;
        case AttributeVerdict::UnknownKey:
            return RowError::AttrUnknownKey;
        case AttributeVerdict::InvalidValue:
            return RowError::AttrInvalidValue;
    }
    return RowError::AttrInvalidValue;
}

}  // namespace muster::rules
