// The core fields of a member (specification 2.1) and their rules, the same for POST /v1/users and
// for staged rows. rules/members/payload.hpp applies the rules while it decodes, so jobs need not
// check again. Pure functions.
#pragma once

#include "base/faults.hpp"
#include "base/time.hpp"
#include "rules/members/fields.hpp"
#include "rules/members/member.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

// One row per core field. A staged row's texts, the statements of members, a PATCH and the checks
// are made from these rows.
struct CoreFieldEntry {
    CoreField field = CoreField::Email;
    std::string_view name = {};  // also the name of the table's column
    std::size_t max_length = 0;  // characters
    std::string MemberFields::*sent = nullptr;
    std::optional<std::string> Member::*stored = nullptr;  // nullptr for email
    std::string_view meaning = {};
    std::string_view example = {};
    std::string_view format = {};  // for JSON Schema
};
inline constexpr std::array<CoreFieldEntry, kCoreFieldCount> kCoreFields = {{
    {CoreField::Email, "email", 254, &MemberFields::email, nullptr,
     "Email address, in lower case. It identifies the user and never changes.", "ada@example.org",
     "email"},
    {CoreField::ExternalId, "external_id", 255, &MemberFields::external_id, &Member::external_id,
     "The partner's own id of the member. It need not be unique.", "C-1001"},
    {CoreField::FirstName, "first_name", 255, &MemberFields::first_name, &Member::first_name,
     "Given name.", "Ada"},
    {CoreField::LastName, "last_name", 255, &MemberFields::last_name, &Member::last_name,
     "Family name.", "Lovelace"},
    {CoreField::DisplayName, "display_name", 255, &MemberFields::display_name,
     &Member::display_name, "Name to show in place of first and last name.", "Ada L."},
    {CoreField::Locale, "locale", 35, &MemberFields::locale, &Member::locale,
     "Language and region, such as en-GB. It is not checked against a list.", "en-GB"},
    {CoreField::Country, "country", 2, &MemberFields::country, &Member::country,
     "Country as an officially assigned ISO 3166-1 alpha-2 code, stored in upper case.", "GB"},
    {CoreField::Dob, "dob", 10, &MemberFields::dob, &Member::dob,
     "Date of birth as YYYY-MM-DD, from 1900-01-01 to yesterday.", "1985-12-10", "date"},
}};

// All core fields except email. Arrays of a member's texts have this order.
inline constexpr auto kTextFields = [] {
    std::array<CoreFieldEntry, kTextFieldCount> fields = {};
    std::copy(kCoreFields.begin() + 1, kCoreFields.end(), fields.begin());
    return fields;
}();

// The core field with this name, or nullopt.
std::optional<CoreField> core_field(std::string_view name);

// True for the 249 officially assigned ISO 3166-1 alpha-2 codes, in upper case.
[[nodiscard]] bool is_country(std::string_view country);

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
