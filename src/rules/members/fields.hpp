// The field rules of a member (specification 2.1), used alike by POST /v1/users and by staged rows.
// Pure functions; rules/members/payload.hpp calls them while decoding, jobs never need to again.
#pragma once

#include "base/faults.hpp"
#include "base/time.hpp"
#include "rules/members/member.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

// A member's payload, normalised: strings trimmed, email lower-case, country upper-case; an empty
// string stands for an absent value, because the API treats both alike.
struct MemberFields {
    std::string email;
    std::string external_id;
    std::string first_name;
    std::string last_name;
    std::string display_name;
    std::string locale;
    std::string country;
    std::string dob;
    std::string attributes;  // JSON text of a flat object without null and "" values; "" = none

    bool operator==(const MemberFields&) const = default;
};

enum class CoreField : std::uint8_t {
    Email,
    ExternalId,
    FirstName,
    LastName,
    DisplayName,
    Locale,
    Country,
    Dob,
};

// The order of the error report's columns (specification 2.5). Every list of core fields is made
// from this: a staged row's texts, the statements of members, a PATCH, the checks.
struct CoreFieldEntry {
    CoreField field = CoreField::Email;
    std::string_view name = {};  // also of the table's column
    std::size_t max_length = 0;  // characters
    std::string MemberFields::*sent = nullptr;
    std::optional<std::string> Member::*stored = nullptr;  // not of email, which all have
    std::string_view meaning = {};
    std::string_view example = {};
    std::string_view format = {};  // of JSON Schema
};
inline constexpr std::array<CoreFieldEntry, 8> kCoreFields = {{
    {CoreField::Email, "email", 254, &MemberFields::email, nullptr,
     "Email address, in lower case. It identifies the user and never changes.", "ada@example.org",
     "email"},
    {CoreField::ExternalId, "external_id", 255, &MemberFields::external_id, &Member::external_id,
     "The partner's own number or key of the member. It need not be unique.", "C-1001"},
    {CoreField::FirstName, "first_name", 255, &MemberFields::first_name, &Member::first_name,
     "Given name.", "Ada"},
    {CoreField::LastName, "last_name", 255, &MemberFields::last_name, &Member::last_name,
     "Family name.", "Lovelace"},
    {CoreField::DisplayName, "display_name", 255, &MemberFields::display_name,
     &Member::display_name, "Name to show in place of first and last name.", "Ada L."},
    {CoreField::Locale, "locale", 35, &MemberFields::locale, &Member::locale,
     "Language and region, such as en-GB. It is not compared with a list.", "en-GB"},
    {CoreField::Country, "country", 2, &MemberFields::country, &Member::country,
     "Country as an officially assigned ISO 3166-1 alpha-2 code, stored in upper case.", "GB"},
    {CoreField::Dob, "dob", 10, &MemberFields::dob, &Member::dob,
     "Date of birth as YYYY-MM-DD, from 1900-01-01 to yesterday.", "1985-12-10", "date"},
}};

// Those that a member may lack: all but email. Arrays of a member's texts have this order.
inline constexpr auto kTextFields = [] {
    std::array<CoreFieldEntry, kCoreFields.size() - 1> fields = {};
    std::copy(kCoreFields.begin() + 1, kCoreFields.end(), fields.begin());
    return fields;
}();

// What a PATCH changes: an absent value stays as it is, an empty one is cleared.
struct MemberPatch {
    std::array<std::optional<std::string>, kTextFields.size()> texts;
    std::string attributes;  // JSON text of a flat object, null = clear that key; "" = none

    bool operator==(const MemberPatch&) const = default;
};

std::optional<CoreField> core_field(std::string_view name);

// One of the 249 officially assigned ISO 3166-1 alpha-2 codes; upper-case already.
[[nodiscard]] bool is_country(std::string_view country);

// A real day, 1900-01-01 or later, strictly before `today`.
[[nodiscard]] bool is_birthday(std::string_view dob, Date today);

// Trims, folds and checks one core field's text in place (an empty result is fine save for email,
// which is Required). Nothing = good. The text is valid UTF-8; control characters (C0 save none,
// and U+007F) are refused with InvalidValue in every field. Too long: TooLong, save for country and
// dob, whose length is part of their form: InvalidCountry ("USA") and InvalidDate
// ("2000-01-01T00:00:00Z").
[[nodiscard]] std::optional<FieldCode> normalise(CoreField field, std::string& text, Date today);

}  // namespace muster::rules
