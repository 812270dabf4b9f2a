// Sessions of signed-in admins. A token is known by its SHA-256 alone.
#pragma once

#include "db/transaction.hpp"
#include "rules/access/admins.hpp"

#include <optional>
#include <string_view>

namespace muster::store {

void insert_session(db::Tx& tx, const rules::Session& session, std::string_view token_hash);
// With the admin's address and the seat of the active organization.
std::optional<rules::Session> find_session(db::Tx& tx, std::string_view token_hash);
std::optional<rules::Session> find_session(db::Tx& tx, SessionId id);
// Notes its use; nothing when it was noted since `unless_after`.
void touch_session(db::Tx& tx, SessionId session, Timestamp now, Timestamp unless_after);
// False when the session is gone.
bool set_session_verified(db::Tx& tx, SessionId session, Timestamp now);
void set_active_organization(db::Tx& tx, SessionId session, OrgId organization);
void delete_session(db::Tx& tx, SessionId session);
// How many there were.
std::int64_t delete_sessions_of(db::Tx& tx, AdminId admin);

}  // namespace muster::store
