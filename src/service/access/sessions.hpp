// Sessions of signed-in admins (docs/api/sign-in.md "Admin sign-in").
#pragma once

#include "base/secret.hpp"
#include "rules/access/admins.hpp"
#include "service/context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::service {

// The live session of a bearer token, marked as used; nullopt for one that is unknown, expired or
// was idle for too long.
std::optional<rules::Session> verify_session_token(Context& context, std::string_view token);

// A new session of the admin, before the second factor, on the earliest of the seats (at least
// one). The token is shown this once.
struct NewSession {
    rules::Session session;
    Secret token;
};
NewSession open_session(db::Tx& tx, const rules::Admin& admin,
                        const std::vector<rules::Seat>& seats, Timestamp now);

// The session of that id; nullopt for one that is gone, expired or was idle for too long. Whether
// it is past its second factor it says itself. To look is no use of it.
std::optional<rules::Session> live_session(db::Tx& tx, SessionId id, Timestamp now);

std::vector<rules::Seat> seats_of(Context& context, AdminId admin);
// False when the admin has no seat there.
bool set_active_organization(Context& context, const rules::Session& session, OrgId organization,
                             std::string_view request_id);
void close_session(Context& context, const rules::Session& session);

}  // namespace muster::service
