// A member: the person's global identity and one organization's record of them.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::rules {

using muster::text_of;

// What creating a member did: made the person and the member, made the member of a known person, or
// filled gaps of a member.
enum class MemberOutcome : std::uint8_t { Created, Attached, Merged };

// One organization's member, with the global identity's id and address.
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

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MemberOutcome> = {
    Name{rules::MemberOutcome::Created, "created"},
    Name{rules::MemberOutcome::Attached, "attached"}, Name{rules::MemberOutcome::Merged, "merged"}};

}  // namespace muster
