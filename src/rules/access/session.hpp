// Sessions of admins who have signed in.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::rules {

enum class Role : std::uint8_t;  // rules/access/roles.hpp

// A session of an admin, with the seat in the organization on which the session acts.
struct Session {
    SessionId id;
    AdminId admin_id;
    std::string email;
    bool is_enrolled = false;  // has a second factor
    OrgId active_organization_id;
    std::optional<Role> role;  // nullopt: the seat was removed
    std::optional<Timestamp> verified_at;
    Timestamp created_at;
    Timestamp last_used_at;
    Timestamp expires_at;
};

}  // namespace muster::rules
