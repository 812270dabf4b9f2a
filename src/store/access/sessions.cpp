#include "store/access/sessions.hpp"

#include "db/sql_text.hpp"
#include "rules/access/roles.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::kSqlText;
using db::nested;
using db::SqlText;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kSession = columns<rules::Session>(
    column<&rules::Session::id>("t.id"), column<&rules::Session::admin_id>("t.admin_id"),
    column<&rules::Session::email>("a.email"),
    column<&rules::Session::is_enrolled>("a.totp_enrolled_at IS NOT NULL"),
    column<&rules::Session::active_organization_id>("t.active_organization_id"),
    column<&rules::Session::role>("s.role"), column<&rules::Session::verified_at>("t.verified_at"),
    column<&rules::Session::created_at>("t.created_at"),
    column<&rules::Session::last_used_at>("t.last_used_at"),
    column<&rules::Session::expires_at>("t.expires_at"));
constexpr auto kFoundSession = columns<FoundSession>(
    column<&FoundSession::token_hash>("t.token_hash"), nested<&FoundSession::session>(kSession));

constexpr auto kClient =
    columns<rules::SessionClient>(column<&rules::SessionClient::user_agent>("user_agent"),
                                  column<&rules::SessionClient::country>("country"));
constexpr auto kListed =
    columns<rules::ListedSession>(column<&rules::ListedSession::id>("id"),
                                  column<&rules::ListedSession::verified_at>("verified_at"),
                                  nested<&rules::ListedSession::client>(kClient),
                                  column<&rules::ListedSession::created_at>("created_at"),
                                  column<&rules::ListedSession::last_used_at>("last_used_at"),
                                  column<&rules::ListedSession::expires_at>("expires_at"));

constexpr SqlText find_text(std::string_view index, std::string_view condition) {
    return {
        "SELECT {columns} FROM sessions t FORCE INDEX (", index,
        ") STRAIGHT_JOIN admins a ON a.id = t.admin_id LEFT JOIN seats s "
        "ON s.organization_id = t.active_organization_id AND s.admin_id = t.admin_id "
        "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = s.organization_id) IS NULL "
        "WHERE ",
        condition};
}

}  // namespace

void insert_session(db::Tx& tx, const rules::Session& session, const rules::SessionClient& client,
                    std::string_view token_hash) {
    static constexpr SystemSql kInsert{
        "sessions.insert", Why{"a session belongs to an admin; its active organization can change"},
        "INSERT INTO sessions (id, token_hash, admin_id, active_organization_id, verified_at, "
        "user_agent, country, created_at, last_used_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    tx.execute(kInsert, session.id, token_hash, session.admin_id, session.active_organization_id,
               session.verified_at, client.user_agent, client.country, session.created_at,
               session.last_used_at, session.expires_at);
}

std::vector<FoundSession> find_sessions(db::Tx& tx, std::span<const std::string> token_hashes) {
    static constexpr SystemSql kFind{
        "sessions.find", Why{"a session belongs to an admin; its active organization can change"},
        kFoundSession, kSqlText<[] { return find_text("token_hash", "t.token_hash IN ({?})"); }>};
    return tx.all_in(kFind, token_hashes);
}

std::optional<rules::Session> find_session(db::Tx& tx, SessionId id) {
    static constexpr SystemSql kFind{
        "sessions.find_by_id",
        Why{"a session belongs to an admin; its active organization can change"}, kSession,
        kSqlText<[] { return find_text("PRIMARY", "t.id = ?"); }>};
    return tx.one(kFind, id);
}

bool lock_session_to_touch(db::Tx& tx, SessionId session, Timestamp unless_after) {
    static constexpr SystemSql kLock{
        "sessions.lock_to_touch",
        Why{"a session belongs to an admin; its active organization can change"},
        "SELECT 1 FROM sessions WHERE id = ? AND last_used_at <= ? FOR UPDATE SKIP LOCKED"};
    return tx.exists(kLock, session, unless_after);
}

void touch_session(db::Tx& tx, SessionId session, Timestamp now) {
    static constexpr SystemSql kTouch{
        "sessions.touch", Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET last_used_at = ? WHERE id = ?"};
    tx.execute(kTouch, now, session);
}

std::optional<std::int64_t> set_session_verified(db::Tx& tx, SessionId session, Timestamp now) {
    static constexpr SystemSql kLock{
        "sessions.lock", Why{"a session belongs to an admin; its active organization can change"},
        "SELECT second_factor_failures FROM sessions WHERE id = ? FOR UPDATE"};
    static constexpr SystemSql kSet{
        "sessions.set_verified",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET verified_at = ?, second_factor_failures = 0 WHERE id = ?"};
    const auto failures = tx.one<std::int64_t>(kLock, session);
    if (failures) tx.execute(kSet, now, session);
    return failures;
}

void set_session_token(db::Tx& tx, SessionId session, std::string_view token_hash) {
    static constexpr SystemSql kSet{
        "sessions.set_token",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET token_hash = ? WHERE id = ?"};
    tx.execute(kSet, token_hash, session);
}

void count_session_failure(db::Tx& tx, SessionId session) {
    static constexpr SystemSql kCount{
        "sessions.count_failure",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET second_factor_failures = second_factor_failures + 1 WHERE id = ?"};
    tx.execute(kCount, session);
}

void set_active_organization(db::Tx& tx, SessionId session, OrgId organization) {
    static constexpr SystemSql kSet{
        "sessions.set_active_organization",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET active_organization_id = ? WHERE id = ?"};
    tx.execute(kSet, organization, session);
}

void delete_session(db::Tx& tx, SessionId session) {
    static constexpr SystemSql kDelete{
        "sessions.delete", Why{"a session belongs to an admin; its active organization can change"},
        "DELETE FROM sessions WHERE id = ?"};
    tx.execute(kDelete, session);
}

std::vector<rules::ListedSession> page_sessions(db::Tx& tx, const OpenSessions& open,
                                                std::optional<SessionId> before, int limit) {
    // The index on admin_id holds the ids in order.
    static constexpr SystemSql kPage{
        "sessions.page", Why{"a session belongs to an admin; its active organization can change"},
        kListed,
        "SELECT {columns} FROM sessions FORCE INDEX (admin) WHERE admin_id = ? AND id < ? "
        "AND expires_at > ? AND last_used_at > ? ORDER BY id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const db::Param bound = before ? db::Param(*before) : db::Param(last);
    return tx.all(kPage, open.admin, bound, open.expires_after, open.used_after, limit);
}

std::optional<rules::ListedSession> find_open_session(db::Tx& tx, const OpenSessions& open,
                                                      SessionId session) {
    static constexpr SystemSql kFind{
        "sessions.find_own",
        Why{"a session belongs to an admin; its active organization can change"}, kListed,
        "SELECT {columns} FROM sessions WHERE id = ? AND admin_id = ? AND expires_at > ? "
        "AND last_used_at > ?"};
    return tx.one(kFind, session, open.admin, open.expires_after, open.used_after);
}

bool delete_open_session(db::Tx& tx, const OpenSessions& open, SessionId session) {
    static constexpr SystemSql kDelete{
        "sessions.delete_own",
        Why{"a session belongs to an admin; its active organization can change"},
        "DELETE FROM sessions WHERE id = ? AND admin_id = ? AND expires_at > ? "
        "AND last_used_at > ?"};
    return tx.execute(kDelete, session, open.admin, open.expires_after, open.used_after) == 1;
}

std::int64_t delete_other_sessions(db::Tx& tx, const OpenSessions& open, SessionId kept) {
    static constexpr SystemSql kDeleteOpen{
        "sessions.delete_open_others",
        Why{"a session belongs to an admin; its active organization can change"},
        "DELETE FROM sessions WHERE admin_id = ? AND id <> ? AND expires_at > ? "
        "AND last_used_at > ?"};
    static constexpr SystemSql kDelete{
        "sessions.delete_others",
        Why{"a session belongs to an admin; its active organization can change"},
        "DELETE FROM sessions WHERE admin_id = ? AND id <> ?"};
    const auto count =
        tx.execute(kDeleteOpen, open.admin, kept, open.expires_after, open.used_after);
    tx.execute(kDelete, open.admin, kept);
    return count;
}

std::optional<std::string> find_next_totp_secret(db::Tx& tx, SessionId session,
                                                 Timestamp begun_since) {
    static constexpr SystemSql kFind{
        "sessions.find_next_totp_secret",
        Why{"a session belongs to an admin; its active organization can change"},
        "SELECT next_totp_secret FROM sessions WHERE id = ? AND next_totp_secret IS NOT NULL "
        "AND next_totp_at >= ?"};
    return tx.one<std::string>(kFind, session, begun_since);
}

void set_next_totp_secret(db::Tx& tx, SessionId session, std::string_view sealed, Timestamp now) {
    static constexpr SystemSql kSet{
        "sessions.set_next_totp_secret",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET next_totp_secret = ?, next_totp_at = ? WHERE id = ?"};
    tx.execute(kSet, sealed, now, session);
}

void clear_next_totp_secrets(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kClear{
        "sessions.clear_next_totp_secrets",
        Why{"a session belongs to an admin; its active organization can change"},
        "UPDATE sessions SET next_totp_secret = NULL, next_totp_at = NULL "
        "WHERE admin_id = ? AND next_totp_secret IS NOT NULL"};
    tx.execute(kClear, admin);
}

std::int64_t delete_sessions_of(db::Tx& tx, AdminId admin) {
    static constexpr SystemSql kDelete{
        "sessions.delete_of_admin",
        Why{"a session belongs to an admin; its active organization can change"},
        "DELETE FROM sessions WHERE admin_id = ?"};
    return tx.execute(kDelete, admin);
}

}  // namespace muster::store
