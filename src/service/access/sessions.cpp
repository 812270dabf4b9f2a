#include "service/access/sessions.hpp"

#include "db/transaction.hpp"
#include "service/access/api_keys.hpp"
#include "service/access/credentials.hpp"
#include "service/audit.hpp"
#include "service/modules/credentials.hpp"
#include "service/pages/publishable_keys.hpp"
#include "store/access/admins.hpp"
#include "store/access/sessions.hpp"

#include <algorithm>
#include <array>

namespace muster::service {
namespace {

constexpr Milliseconds kIdleLife{12L * 3600 * 1000};
constexpr Milliseconds kWholeLife{7L * 24 * 3600 * 1000};

bool is_alive(const std::optional<rules::Session>& session, Timestamp now) {
    return session && now < session->expires_at && now < session->last_used_at + kIdleLife;
}

std::optional<rules::Session> verify_token(Context& context, std::string_view token) {
    auto session =
        context.database.read([&](db::Tx& tx) { return store::find_session(tx, sha256(token)); });
    const Timestamp now = Timestamp::now();
    if (!is_alive(session, now)) return std::nullopt;
    if (now - session->last_used_at >= kTouchInterval) {
        context.database.read([&](db::Tx& tx) {  // one statement, a transaction of its own
            store::touch_session(tx, session->id, now, now - kTouchInterval);
        });
    }
    return session;
}

Caller caller_of(const rules::ApiKey& key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.actor.api_key = key.id;
    caller.rate_subject = key.id.bytes();
    caller.rate_per_second = key.rate_per_second;
    caller.burst = key.burst;
    return caller;
}

Caller caller_of(VerifiedModule verified) {
    Caller caller;
    caller.actor.organization = verified.organization;
    caller.rate_subject = verified.module.credential.bytes();
    caller.module = std::move(verified.module);
    return caller;
}

Caller caller_of(rules::Session session) {
    Caller caller;
    caller.actor.organization = session.active_organization_id;
    caller.actor.admin = session.admin_id;
    caller.rate_subject = session.admin_id.bytes();
    caller.session = std::move(session);
    return caller;
}

}  // namespace

Caller caller_of(const rules::PublishableKey& key) {
    Caller caller;
    caller.actor.organization = key.organization_id;
    caller.rate_subject = key.id.bytes();
    caller.rate_per_second = key.rate_per_second;
    caller.burst = key.burst;
    caller.publishable_key = key;
    return caller;
}

std::optional<Caller> identify(Context& context, std::string_view token) {
    // The checksum spares the database every mistyped token; the look-up by SHA-256 of 256 random
    // bits leaks nothing by its time that would help to guess one.
    if (is_credential(kOrganizationKeyPrefix, token)) {
        const auto key = verify_api_key(context, token);
        return key ? std::optional(caller_of(*key)) : std::nullopt;
    }
    if (is_credential(kModuleCredentialPrefix, token)) {
        auto verified = verify_module_credential(context, token);
        return verified ? std::optional(caller_of(std::move(*verified))) : std::nullopt;
    }
    if (is_publishable_token(token)) {
        const auto keys = find_publishable_keys(context, std::array{std::string(token)});
        return keys.empty() ? std::nullopt : std::optional(caller_of(keys[0]));
    }
    if (!is_credential("", token)) return std::nullopt;
    auto session = verify_token(context, token);
    return session ? std::optional(caller_of(std::move(*session))) : std::nullopt;
}

NewSession open_session(db::Tx& tx, const rules::Admin& admin,
                        const std::vector<rules::Seat>& seats, Timestamp now) {
    NewSession opened{{}, create_credential("")};
    rules::Session& session = opened.session;
    session.id = SessionId::create();
    session.admin_id = admin.id;
    session.email = admin.email;
    session.is_enrolled = admin.totp_enrolled_at.has_value();
    session.active_organization_id = seats.at(0).organization_id;
    session.role = seats.at(0).role;
    session.created_at = session.last_used_at = now;
    session.expires_at = now + kWholeLife;
    store::insert_session(tx, session, sha256(opened.token.reveal()));
    return opened;
}

std::optional<rules::Session> live_session(db::Tx& tx, SessionId id, Timestamp now) {
    auto session = store::find_session(tx, id);
    return is_alive(session, now) ? std::move(session) : std::nullopt;
}

std::vector<rules::Seat> seats_of(Context& context, AdminId admin) {
    return context.database.read([&](db::Tx& tx) { return store::find_seats(tx, admin); });
}

bool set_active_organization(Context& context, const rules::Session& session, OrgId organization,
                             std::string_view request_id) {
    return context.database.transaction([&](db::Tx& tx) {
        const auto seats = store::find_seats(tx, session.admin_id);
        const bool has_seat = std::any_of(seats.begin(), seats.end(), [&](const auto& seat) {
            return seat.organization_id == organization;
        });
        if (!has_seat) return false;
        store::set_active_organization(tx, session.id, organization);
        if (organization != session.active_organization_id) {
            audit_admin(tx, organization, session.admin_id, request_id, "session.switched", {},
                        Timestamp::now());
        }
        return true;
    });
}

void close_session(Context& context, const rules::Session& session) {
    context.database.transaction([&](db::Tx& tx) { store::delete_session(tx, session.id); });
}

}  // namespace muster::service
