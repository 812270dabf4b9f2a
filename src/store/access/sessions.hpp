// Sessions of signed-in admins. The database holds only the SHA-256 of a token.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/session.hpp"

#include <optional>
#include <string_view>

namespace muster::store {

void insert_session(db::Tx& tx, const rules::Session& session, const rules::SessionClient& client,
                    std::string_view token_hash);
// Includes the admin's address and the seat in the active organization.
std::optional<rules::Session> find_session(db::Tx& tx, SessionId id);
struct FoundSession {
    std::string token_hash;
    rules::Session session;
};
// The sessions with these hashes (one or more), even if they have expired.
std::vector<FoundSession> find_sessions(db::Tx& tx, std::span<const std::string> token_hashes);
// Locks the record to set last_used_at. False if last_used_at is already `unless_after` or later,
// or if another transaction locks the record.
bool lock_session_to_touch(db::Tx& tx, SessionId session, Timestamp unless_after);
void touch_session(db::Tx& tx, SessionId session, Timestamp now);
// Sets the time of the second factor. Returns the number of wrong codes that the session had sent,
// and sets it to 0; nullopt if the session does not exist any more.
std::optional<std::int64_t> set_session_verified(db::Tx& tx, SessionId session, Timestamp now);
void set_session_token(db::Tx& tx, SessionId session, std::string_view token_hash);
// Counts a wrong code.
void count_session_failure(db::Tx& tx, SessionId session);
void set_active_organization(db::Tx& tx, SessionId session, OrgId organization);
void delete_session(db::Tx& tx, SessionId session);
// The admin's sessions that have not ended, newest first.
struct OpenSessions {
    AdminId admin;
    Timestamp expires_after;
    Timestamp used_after;
};
std::vector<rules::ListedSession> page_sessions(db::Tx& tx, const OpenSessions& open,
                                                std::optional<SessionId> before, int limit);
std::optional<rules::ListedSession> find_open_session(db::Tx& tx, const OpenSessions& open,
                                                      SessionId session);
// False if the admin has no such session, or it has ended.
bool delete_open_session(db::Tx& tx, const OpenSessions& open, SessionId session);
// Deletes the sessions that have ended too. Returns the number of the others.
std::int64_t delete_other_sessions(db::Tx& tx, const OpenSessions& open, SessionId kept);

// The sealed secret of the authenticator that the session has begun to set up since that time.
std::optional<std::string> find_next_totp_secret(db::Tx& tx, SessionId session,
                                                 Timestamp begun_since);
void set_next_totp_secret(db::Tx& tx, SessionId session, std::string_view sealed, Timestamp now);
// Of all sessions of the admin.
void clear_next_totp_secrets(db::Tx& tx, AdminId admin);
// Returns the number of deleted sessions.
std::int64_t delete_sessions_of(db::Tx& tx, AdminId admin);

}  // namespace muster::store
