#include "rules/imports/row_states.hpp"

#include "rules/attributes.hpp"

namespace muster::rules {
namespace {

std::string named(std::string_view key) {
    if (key.empty()) return "An attribute";
    return std::string("The attribute \"").append(key).append("\"");
}

}  // namespace

bool is_committed(RowState state) {
    return state == RowState::Created || state == RowState::Attached || state == RowState::Merged;
}

bool is_undone(RowState state) {
    return state == RowState::Removed || state == RowState::Detached ||
           state == RowState::Emptied || state == RowState::Kept;
}

std::string row_error_message(RowError error, std::string_view key) {
    switch (error) {
        case RowError::None:
            return "";
        case RowError::DuplicateInFile:
            return "An earlier row of this import has the same email address.";
        case RowError::AttrInvalidValue:
            return named(key) + " does not allow this value.";
        case RowError::AttrUnknownKey:
            return named(key) + " is not enabled for this organization.";
        case RowError::WriteFailed:
            return "The row could not be written. Import it again.";
        case RowError::FieldInvalid:
            return "A field of the payload is not valid.";
        case RowError::ChangedSince:
            return std::string(key) + " was changed since the import.";
        case RowError::HasEvents:
            return "The member has engagement events.";
        case RowError::NotRecorded:
            return "An older version of Muster committed the row and did not record what it filled.";
    }
    return "";
}

std::string row_error_field(RowError error, std::string_view key) {
    switch (error) {
        case RowError::None:
        case RowError::WriteFailed:
        case RowError::HasEvents:
        case RowError::NotRecorded:
            return "";
        case RowError::ChangedSince:
            return std::string(key);
        case RowError::DuplicateInFile:
            return "email";
        case RowError::AttrInvalidValue:
        case RowError::AttrUnknownKey:
            return key.empty() ? "attributes" : std::string("attributes.").append(key);
        case RowError::FieldInvalid:
            return std::string(key);
    }
    return "";
}

RowError row_error_of(AttributeResult result) {
    switch (result) {
        case AttributeResult::Good:
            return RowError::None;
        case AttributeResult::UnknownKey:
            return RowError::AttrUnknownKey;
        case AttributeResult::InvalidValue:
            return RowError::AttrInvalidValue;
    }
    return RowError::AttrInvalidValue;
}

}  // namespace muster::rules
