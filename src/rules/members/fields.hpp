// A member's payload as POST /v1/users and staged rows send it (specification 2.1), normalized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace muster::rules {

// Strings are trimmed; email is in lower case, country in upper case. "" means absent; the API
// treats both alike.
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

// Texts of a member, in the order of the error report's columns (specification 2.5).
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
inline constexpr std::size_t kCoreFieldCount = static_cast<std::size_t>(CoreField::Dob) + 1;

}  // namespace muster::rules
