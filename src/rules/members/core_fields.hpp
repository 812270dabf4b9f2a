// The table of the core fields of a member (specification 2.1). rules/members/core_field_checks.hpp
// has their rules.
#pragma once

#include "rules/members/core_field_checks.hpp"
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

}  // namespace muster::rules
