// The team of an organization: seats, and invitations to seats (docs/api/team.md).
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

using muster::text_of;

enum class Role : std::uint8_t;  // rules/access/roles.hpp

// Of an invitation. Not the id of the admin: its time would show that the address has an account.
using InvitationId = Id<struct InvitationTag>;

struct Invitation {
    InvitationId id;
    std::string email;
    Role role = {};
    std::optional<AdminId> invited_by;  // nullopt: the operator
    std::optional<std::string> invited_by_email;
    Timestamp created_at;
    Timestamp sent_at;  // of the newest mail
    Timestamp expires_at;
};

// An invitation as its addressee sees it.
struct Offer {
    InvitationId id;
    OrgId organization_id;
    std::string organization_name;
    Role role = {};
    std::optional<std::string> invited_by_email;  // nullopt: the operator
    Timestamp expires_at;
};

enum class SeatStatus : std::uint8_t { Active, Invited, Expired };

// A seat or an invitation, in the list of the team.
struct TeamSeat {
    SeatStatus status = SeatStatus::Active;
    std::optional<AdminId> admin_id;            // of a seat
    std::optional<InvitationId> invitation_id;  // of an invitation
    std::string email;
    Role role = {};
    bool is_enrolled = false;  // has a second factor
    Timestamp created_at;
    std::optional<AdminId> invited_by;
    std::optional<std::string> invited_by_email;
    std::optional<Timestamp> sent_at;
    std::optional<Timestamp> expires_at;
};

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::SeatStatus> = {
    Name{rules::SeatStatus::Active, "active"}, Name{rules::SeatStatus::Invited, "invited"},
    Name{rules::SeatStatus::Expired, "expired"}};

}  // namespace muster
