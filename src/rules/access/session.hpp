// Sessions of admins who have signed in.
#pragma once

#include "base/ids.hpp"
#include "base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// The program that opened a session, as it describes itself, and where nginx located it.
struct SessionClient {
    std::optional<std::string> user_agent;
    std::optional<std::string> country;  // ISO 3166
};
// From the header User-Agent, of which at most 200 bytes are kept, and nginx's country.
[[nodiscard]] SessionClient session_client(std::string_view user_agent,
                                           const std::optional<std::string>& country);

// A session in the list of an admin's sessions.
struct ListedSession {
    SessionId id;
    std::optional<Timestamp> verified_at;
    SessionClient client;
    Timestamp created_at;
    Timestamp last_used_at;
    Timestamp expires_at;
};

}  // namespace muster::rules
