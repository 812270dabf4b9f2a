// Admins and their seats in organizations.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"
#include "rules/access/second_factor.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

enum class Role : std::uint8_t;  // rules/access/roles.hpp

// A role of an admin in an organization.
struct Seat {
    OrgId organization_id;
    std::string name;  // of the organization
    Role role = {};
};

// An admin in the list of an organization's admins.
struct SeatHolder {
    AdminId admin_id;
    std::string email;
    Role role = {};
    bool is_enrolled = false;  // has a second factor
    Timestamp since;
};

struct Admin {
    AdminId id;
    std::string email;
    std::string totp_secret;  // sealed; "" = none
    std::optional<Timestamp> totp_enrolled_at;
    std::int64_t totp_last_step = 0;
    SecondFactorGuesses guesses;
};

}  // namespace muster::rules
