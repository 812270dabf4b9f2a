#include "base/faults.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

struct FieldCodeEntry {
    FieldCode code;
    std::string_view text;
    std::string_view message;
    std::string_view format = {};  // of every field with this fault
};

constexpr std::array kFaultEntries = {
    FieldCodeEntry{FieldCode::Required, "required", "is required"},
    FieldCodeEntry{FieldCode::UnknownField, "unknown_field", "is not a field of this request"},
    FieldCodeEntry{FieldCode::WrongType, "wrong_type", "has the wrong JSON type"},
    FieldCodeEntry{FieldCode::TooLong, "too_long", "is too long"},
    FieldCodeEntry{FieldCode::TooShort, "too_short", "is too short"},
    FieldCodeEntry{FieldCode::OutOfRange, "out_of_range", "is out of range"},
    FieldCodeEntry{FieldCode::InvalidEmail, "invalid_email", "is not an email address", "email"},
    FieldCodeEntry{FieldCode::InvalidDate, "invalid_date",
                   "is not a day between 1900-01-01 and yesterday, as YYYY-MM-DD", "date"},
    FieldCodeEntry{FieldCode::InvalidCountry, "invalid_country",
                   "is not an officially assigned ISO 3166-1 alpha-2 code", "iso-3166-1-alpha-2"},
    FieldCodeEntry{FieldCode::InvalidUrl, "invalid_url", "is not an allowed URL", "uri"},
    FieldCodeEntry{FieldCode::InvalidUuid, "invalid_uuid", "is not a lower-case UUID", "uuid"},
    FieldCodeEntry{FieldCode::InvalidChoice, "invalid_choice", "is not one of the allowed values"},
    FieldCodeEntry{FieldCode::InvalidTimestamp, "invalid_timestamp",
                   "is not an ISO 8601 time with a time zone", "date-time"},
    FieldCodeEntry{FieldCode::Duplicate, "duplicate", "is given twice"},
    FieldCodeEntry{FieldCode::UnknownAttribute, "unknown_attribute",
                   "is not an enabled attribute of this organization"},
    FieldCodeEntry{FieldCode::InvalidValue, "invalid_value", "is not a valid value"},
    FieldCodeEntry{FieldCode::InvalidCursor, "invalid_cursor", "is not a cursor of this list"},
};

const FieldCodeEntry& entry(FieldCode code) {
    return kFaultEntries[static_cast<std::size_t>(code)];
}

constexpr std::size_t kMostShownChoices = 10;

std::string choices_text(const std::vector<std::string>& choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size() && i < kMostShownChoices; ++i) {
        text.append(text.empty() ? "" : ", ").append(choices[i]);
    }
    return choices.size() > kMostShownChoices ? text + ", ..." : text;
}

// "1 to 100", "at least 1", "at most 100", or "".
std::string range_text(const FieldLimits& limits) {
    const auto low = limits.minimum ? std::to_string(*limits.minimum) : "";
    const auto high = limits.maximum ? std::to_string(*limits.maximum) : "";
    if (!low.empty() && !high.empty()) return low + " to " + high;
    if (!low.empty()) return "at least " + low;
    return high.empty() ? "" : "at most " + high;
}

}  // namespace

std::string_view field_code_text(FieldCode code) {
    return entry(code).text;
}
std::optional<FieldCode> parse_field_code(std::string_view text) {
    const auto found =
        std::find_if(kFaultEntries.begin(), kFaultEntries.end(),
                     [text](const FieldCodeEntry& candidate) { return candidate.text == text; });
    return found == kFaultEntries.end() ? std::nullopt : std::optional(found->code);
}
std::string_view field_code_message(FieldCode code) {
    return entry(code).message;
}

std::string fault_message(FieldCode code, const FieldLimits& limits) {
    std::string message(field_code_message(code));
    if (!limits.allowed.empty()) return message + "; use " + choices_text(limits.allowed);
    if (code == FieldCode::TooLong && limits.max_length) {
        return message + "; the maximum is " + std::to_string(*limits.max_length);
    }
    if (code == FieldCode::TooShort && limits.min_length) {
        return message + "; the minimum is " + std::to_string(*limits.min_length);
    }
    const std::string range = range_text(limits);
    return range.empty() ? message : message + "; use " + range;
}

bool Faults::contains(std::string_view path) const {
    return std::any_of(list_.begin(), list_.end(),
                       [&](const Fault& fault) { return fault.path == path; });
}

void Faults::add(std::string path, FieldCode code, FieldLimits limits) {
    if (is_full()) return truncate();
    std::string message = fault_message(code, limits);
    add(std::move(path), code, std::move(message), std::move(limits));
}

void Faults::add(std::string path, FieldCode code, std::string message, FieldLimits limits) {
    if (is_full()) return truncate();
    if (limits.format.empty()) limits.format = entry(code).format;
    list_.push_back({std::move(path), code, std::move(message), std::move(limits)});
}

}  // namespace muster
