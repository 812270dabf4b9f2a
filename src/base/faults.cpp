#include "base/faults.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

struct FieldCodeEntry {
    FieldCode code;
    std::string_view text;
    std::string_view message;
};

constexpr std::array kFaultEntries = {
    FieldCodeEntry{FieldCode::Required, "required", "is required"},
    FieldCodeEntry{FieldCode::UnknownField, "unknown_field", "is not a field of this request"},
    FieldCodeEntry{FieldCode::WrongType, "wrong_type", "has the wrong JSON type"},
    FieldCodeEntry{FieldCode::TooLong, "too_long", "is too long"},
    FieldCodeEntry{FieldCode::TooShort, "too_short", "is too short"},
    FieldCodeEntry{FieldCode::OutOfRange, "out_of_range", "is out of range"},
    FieldCodeEntry{FieldCode::InvalidEmail, "invalid_email", "is not an email address"},
    FieldCodeEntry{FieldCode::InvalidDate, "invalid_date",
                   "is not a day between 1900-01-01 and yesterday, as YYYY-MM-DD"},
    FieldCodeEntry{FieldCode::InvalidCountry, "invalid_country",
                   "is not an officially assigned ISO 3166-1 alpha-2 code"},
    FieldCodeEntry{FieldCode::InvalidUrl, "invalid_url", "is not an allowed URL"},
    FieldCodeEntry{FieldCode::InvalidUuid, "invalid_uuid", "is not a lower-case UUID"},
    FieldCodeEntry{FieldCode::InvalidChoice, "invalid_choice", "is not one of the allowed values"},
    FieldCodeEntry{FieldCode::InvalidTimestamp, "invalid_timestamp",
                   "is not an ISO 8601 time with a time zone"},
    FieldCodeEntry{FieldCode::Duplicate, "duplicate", "is given twice"},
    FieldCodeEntry{FieldCode::UnknownAttribute, "unknown_attribute",
                   "is not an enabled attribute of this organization"},
    FieldCodeEntry{FieldCode::InvalidValue, "invalid_value", "is not a valid value"},
    FieldCodeEntry{FieldCode::InvalidCursor, "invalid_cursor", "is not a cursor of this list"},
};

const FieldCodeEntry& entry(FieldCode code) {
    return kFaultEntries[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view field_code_text(FieldCode code) {
    return entry(code).text;
}
std::string_view field_code_message(FieldCode code) {
    return entry(code).message;
}

bool Faults::contains(std::string_view path) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const Fault& fault) { return fault.path == path; });
}

void Faults::add(std::string path, FieldCode code) {
    add(std::move(path), code, std::string(field_code_message(code)));
}

void Faults::add(std::string path, FieldCode code, std::string message) {
    if (list_.size() == kMost) {
        truncated_ = true;
        return;
    }
    list_.push_back({std::move(path), code, std::move(message)});
}

}  // namespace muster
