// The rules of a member's core fields, the same for POST /v1/users and for staged rows.
// rules/members/payload.hpp applies them while it decodes, so jobs need not check again. Pure
// functions.
#pragma once

#include "base/faults.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

enum class CoreField : std::uint8_t;  // rules/members/fields.hpp

// The core field with this name, or nullopt.
std::optional<CoreField> core_field(std::string_view name);

// True for the 249 officially assigned ISO 3166-1 alpha-2 codes, in upper case.
[[nodiscard]] bool is_country(std::string_view country);

// Puts a country into its stored form: two capital letters. Returns the fault of another text.
[[nodiscard]] std::optional<FieldCode> normalize_country(std::string& text);

// True for an existing day from 1900-01-01 to the day before `today`.
[[nodiscard]] bool is_birthday(std::string_view dob, Date today);

// Trims, normalizes and checks one core field in place. Returns nullopt if it is valid. The text
// must be valid UTF-8. An empty result is valid, except for email (Required). Control characters
// (U+0000 to U+001F and U+007F) give InvalidValue in email, country and dob; in other fields a run
// of them becomes one space. A value that is too long gives TooLong, except for country and dob:
// InvalidCountry ("USA"), InvalidDate ("2000-01-01T00:00:00Z").
[[nodiscard]] std::optional<FieldCode> normalize(CoreField field, std::string& text, Date today);

// The limits of the field that matter for the fault.
[[nodiscard]] FieldLimits limits_of(CoreField field, FieldCode fault);

}  // namespace muster::rules
