// A member: the person's global identity and one organization's record of them.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

// The result of creating a member. Created: a new person and a new member. Attached: a new member
// for a known person. Merged: empty values of a member were filled.
enum class MemberOutcome : std::uint8_t { Created, Attached, Merged };

// The number of core fields that may be absent: all except email (rules/members/core_fields.hpp).
inline constexpr std::size_t kTextFieldCount = 7;

// A member of one organization, with the id and the address of the global identity.
struct Member {
    UserId user_id;
    MemberId member_id;
    OrgId organization_id;
    std::string email;
    std::optional<std::string> external_id;
    std::optional<std::string> first_name;
    std::optional<std::string> last_name;
    std::optional<std::string> display_name;
    std::optional<std::string> locale;
    std::optional<std::string> country;
    std::optional<std::string> dob;
    std::string attributes;  // the document of attribute_document()
    std::string status;
    std::optional<Timestamp> locked_at;
    std::optional<std::string> lock_reason;
    Timestamp created_at;
    Timestamp updated_at;
};

// The changes of a PATCH: an absent value keeps the stored one, an empty value clears it.
struct MemberPatch {
    std::array<std::optional<std::string>, kTextFieldCount> texts;
    std::string attributes;  // JSON text of a flat object, null = clear that key; "" = none

    bool operator==(const MemberPatch&) const = default;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MemberOutcome> = {
    Name{rules::MemberOutcome::Created, "created"},
    Name{rules::MemberOutcome::Attached, "attached"}, Name{rules::MemberOutcome::Merged, "merged"}};

}  // namespace muster
