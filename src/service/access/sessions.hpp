// Sessions of signed-in admins (docs/api/sign-in.md "Admin sign-in").
#pragma once

#include "base/secret.hpp"
#include "rules/access/session.hpp"
#include "service/context.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct Admin;  // rules/access/admins.hpp
}  // namespace muster::rules

namespace muster::service {

// The active sessions of these bearer tokens (one or more), by token, found by one query. Unknown
// and expired sessions, and those that were idle for too long, are left out. Updates `last_used_at`
// at most once a minute.
std::map<std::string, rules::Session> verify_sessions(Context& context,
                                                      std::span<const std::string> tokens);

// Opens a session before the second factor that acts on the organization, with the role of the
// admin's seat in it. The token is returned only here.
struct NewSession {
    rules::Session session;
    Secret token;
};
NewSession open_session(db::Tx& tx, const rules::Admin& admin, OrgId organization,
                        std::optional<rules::Role> role, const rules::SessionClient& client,
                        Timestamp now);

// Gives the session another token, and returns it. The previous one is invalid from the commit on.
Secret replace_session_token(db::Tx& tx, SessionId session);

// The active session with this id, or nullopt if it does not exist, expired or was idle for too
// long. Check `verified_at` for the second factor. Does not update `last_used_at`.
std::optional<rules::Session> find_active_session(db::Tx& tx, SessionId id, Timestamp now);

// The organization whose log shows that the session was opened or verified, or ended others: the
// active one, or the one of the earliest seat if the admin has no seat in the active one. nullopt
// if the admin has no seat. Seats in disabled organizations do not count.
std::optional<OrgId> organization_of_sign_in(db::Tx& tx, const rules::Session& session);
// Returns false if the admin has no seat in the organization. Throws QUOTA_EXCEEDED if the audit
// log of another organization than the active one is full for today, and RATE_LIMITED after 50
// switches of the admin to it in a day.
bool set_active_organization(Context& context, const rules::Session& session, OrgId organization,
                             std::string_view request_id);
void close_session(Context& context, const rules::Session& session);
// The same for the session of a token, if there is one.
void close_session_of(db::Tx& tx, const std::string& token);

// At most `limit` of the admin's sessions, newest first, before `before`. Sessions that have ended
// are left out.
std::vector<rules::ListedSession> list_sessions(Context& context, AdminId admin,
                                                std::optional<SessionId> before, int limit);
// nullopt if the admin has no such session, or it has ended.
std::optional<rules::ListedSession> find_session(Context& context, AdminId admin, SessionId id);
// When a session that is not used ends.
Timestamp idle_end(const rules::ListedSession& session);
// Ends another session of the admin of `session`, or `session` itself. False if the admin has no
// such session, or it has ended.
bool end_session(Context& context, const rules::Session& session, SessionId ended,
                 std::string_view request_id);
// Ends all sessions of the admin except `session`. Returns the number of those that had not ended.
std::int64_t end_other_sessions(Context& context, const rules::Session& session,
                                std::string_view request_id);

}  // namespace muster::service
