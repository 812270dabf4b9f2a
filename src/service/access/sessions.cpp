#include "service/access/sessions.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/access/budgets.hpp"
#include "service/access/credentials.hpp"
#include "service/access/seats.hpp"
#include "service/audit.hpp"
#include "service/quotas.hpp"
#include "store/access/admins.hpp"
#include "store/access/sessions.hpp"

#include <algorithm>
#include <array>

namespace muster::service {
namespace {

constexpr Milliseconds kIdleLife{12L * 3600 * 1000};
constexpr Milliseconds kWholeLife = std::chrono::days(7);
// Of an admin to one organization. The 200 seats of a team then fill at most half of its audit log
// of a day.
constexpr rules::Budget kSwitches{50, std::chrono::days(1)};

bool is_active(const rules::Session& session, Timestamp now) {
    return now < session.expires_at && now < session.last_used_at + kIdleLife;
}

void touch(Context& context, const rules::Session& session, Timestamp now) {
    if (now - session.last_used_at < kTouchInterval) return;
    write_last_use(context, [&](db::Tx& tx) {
        if (!store::lock_session_to_touch(tx, session.id, now - kTouchInterval)) return;
        store::touch_session(tx, session.id, now);
    });
}

store::OpenSessions open_sessions(AdminId admin) {
    const Timestamp now = Timestamp::now();
    return {admin, now, now - kIdleLife};
}

// Not for an admin without a seat, who acts in no organization.
void audit_ended(db::Tx& tx, const rules::Session& session, std::int64_t count,
                 std::string_view request_id) {
    const auto organization = organization_of_sign_in(tx, session);
    if (!organization) return;
    audit_admin(tx, *organization, session.admin_id, request_id, "session.ended",
                {{"count", std::to_string(count)}}, Timestamp::now());
}

// Throws RATE_LIMITED if the admin has no switch to the organization left.
void spend_switch(db::Tx& tx, AdminId admin, OrgId organization, Timestamp now) {
    const std::string subject = admin_subject("switch", admin, organization.bytes());
    const auto spending = try_spend(tx, kAdminBudget, subject, kSwitches, now);
    if (!spending.wait_seconds) return;
    throw Error(ErrorCode::RateLimited)
        .retry_after(*spending.wait_seconds)
        .detail("reason",
                "an admin switches to an organization at most 50 times within 24 hours; name the "
                "organization in X-Organization, or retry after the time in Retry-After");
}

}  // namespace

std::map<std::string, rules::Session> verify_sessions(Context& context,
                                                      std::span<const std::string> tokens) {
    const HashedTokens hashed(tokens);
    auto found = context.database.autocommit(
        [&](db::Tx& tx) { return store::find_sessions(tx, hashed.hashes()); });
    const Timestamp now = Timestamp::now();
    std::map<std::string, rules::Session> sessions;
    for (auto& [hash, session] : found) {
        if (!is_active(session, now)) continue;
        touch(context, session, now);
        sessions.emplace(hashed.token_of(hash), std::move(session));
    }
    return sessions;
}

NewSession open_session(db::Tx& tx, const rules::Admin& admin, OrgId organization,
                        std::optional<rules::Role> role, const rules::SessionClient& client,
                        Timestamp now) {
    NewSession opened{{}, create_credential("")};
    rules::Session& session = opened.session;
    session.id = SessionId::create();
    session.admin_id = admin.id;
    session.email = admin.email;
    session.is_enrolled = admin.totp_enrolled_at.has_value();
    session.active_organization_id = organization;
    session.role = role;
    session.created_at = session.last_used_at = now;
    session.expires_at = now + kWholeLife;
    store::insert_session(tx, session, client, sha256(opened.token.reveal()));
    return opened;
}

Secret replace_session_token(db::Tx& tx, SessionId session) {
    Secret token = create_credential("");
    store::set_session_token(tx, session, sha256(token.reveal()));
    return token;
}

std::optional<rules::Session> find_active_session(db::Tx& tx, SessionId id, Timestamp now) {
    auto session = store::find_session(tx, id);
    return session && is_active(*session, now) ? std::move(session) : std::nullopt;
}

std::optional<OrgId> organization_of_sign_in(db::Tx& tx, const rules::Session& session) {
    const auto organizations = organizations_of(store::find_seats(tx, session.admin_id));
    const OrgId& active = session.active_organization_id;
    if (std::ranges::find(organizations, active) != organizations.end()) return active;
    return organizations.empty() ? std::nullopt : std::optional(organizations.front());
}

bool set_active_organization(Context& context, const rules::Session& session, OrgId organization,
                             std::string_view request_id) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        // First, so that the organization looks like an unknown one.
        if (!store::find_role(org, session.admin_id)) return false;
        const Timestamp now = Timestamp::now();
        const bool is_switch = organization != session.active_organization_id;
        if (is_switch) {
            reject_used_up(org, rules::Quota::AuditEntries, context.settings.limits.audit_entries,
                           now);
            spend_switch(tx, session.admin_id, organization, now);
        }
        store::set_active_organization(tx, session.id, organization);
        if (is_switch)
            audit_admin(tx, organization, session.admin_id, request_id, "session.switched", {},
                        now);
        return true;
    });
}

void close_session(Context& context, const rules::Session& session) {
    context.database.transaction([&](db::Tx& tx) { store::delete_session(tx, session.id); });
}

void close_session_of(db::Tx& tx, const std::string& token) {
    const std::array hashes = {sha256(token)};
    for (const auto& found : store::find_sessions(tx, hashes)) {
        store::delete_session(tx, found.session.id);
    }
}

std::vector<rules::ListedSession> list_sessions(Context& context, AdminId admin,
                                                std::optional<SessionId> before, int limit) {
    return context.database.autocommit(
        [&](db::Tx& tx) { return store::page_sessions(tx, open_sessions(admin), before, limit); });
}

std::optional<rules::ListedSession> find_session(Context& context, AdminId admin, SessionId id) {
    return context.database.autocommit(
        [&](db::Tx& tx) { return store::find_open_session(tx, open_sessions(admin), id); });
}

Timestamp idle_end(const rules::ListedSession& session) {
    return std::min(session.last_used_at + kIdleLife, session.expires_at);
}

bool end_session(Context& context, const rules::Session& session, SessionId ended,
                 std::string_view request_id) {
    return context.database.transaction([&](db::Tx& tx) {
        if (!store::delete_open_session(tx, open_sessions(session.admin_id), ended)) return false;
        audit_ended(tx, session, 1, request_id);
        return true;
    });
}

std::int64_t end_other_sessions(Context& context, const rules::Session& session,
                                std::string_view request_id) {
    return context.database.transaction([&](db::Tx& tx) {
        const auto count =
            store::delete_other_sessions(tx, open_sessions(session.admin_id), session.id);
        if (count > 0) audit_ended(tx, session, count, request_id);
        return count;
    });
}

}  // namespace muster::service
