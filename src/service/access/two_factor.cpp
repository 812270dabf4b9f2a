#include "service/access/two_factor.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/access/totp.hpp"
#include "rules/seal_names.hpp"
#include "service/access/notices.hpp"
#include "service/access/organizations.hpp"
#include "service/access/sessions.hpp"
#include "service/audit.hpp"
#include "store/access/admins.hpp"
#include "store/access/sessions.hpp"

#include <functional>
#include <stdexcept>

namespace muster::service {
namespace {

// Writes to the audit log of every organization where the admin has a seat.
void audit_everywhere(db::Tx& tx, AdminId admin, std::string_view request_id,
                      std::string_view action, Timestamp now, AuditDetails details = {}) {
    for (const auto& seat : store::find_seats(tx, admin)) {
        audit_admin(tx, seat.organization_id, admin, request_id, action, details, now);
    }
}

rules::Admin lock_session_admin(db::Tx& tx, const rules::Session& session) {
    auto admin = store::lock_admin(tx, session.admin_id);
    if (!admin) throw Error(ErrorCode::Unauthorized).detail("reason", "SESSION_ENDED");
    return std::move(*admin);
}

void reject_while_paused(const rules::Admin& admin, Timestamp now) {
    const auto seconds = rules::seconds_paused(admin.guesses, now);
    if (seconds) throw Error(ErrorCode::RateLimited).retry_after(*seconds);
}

void count_failure(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin, SessionId session,
                   std::string_view request_id, Timestamp now) {
    const auto guesses = rules::after_wrong_code(admin.guesses, now);
    store::set_second_factor_guesses(tx, admin.id, guesses);
    store::count_session_failure(tx, session);
    audit_refused_sign_in(tx, organizations_of(store::find_seats(tx, admin.id)), admin.id,
                          "second_factor", request_id, now);
    const auto seconds = rules::seconds_paused(guesses, now);
    if (!seconds) return;
    audit_everywhere(tx, admin.id, request_id, "second_factor.paused", now,
                     {{"minutes", std::to_string(*seconds / 60)}});
    if (guesses.pauses == 1) notify_of_pause(tx, keys, admin, now);
}

// Runs `check` under the admin's lock, then counts a failure or marks the session as verified. A
// failure is committed too.
bool verify(Context& context, const rules::Session& session, std::string_view request_id,
            const std::function<bool(db::Tx&, const rules::Admin&, Timestamp)>& check) {
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        const auto admin = lock_session_admin(tx, session);
        reject_while_paused(admin, now);
        if (!check(tx, admin, now)) {
            count_failure(tx, context.keys, admin, session.id, request_id, now);
            return false;
        }
        // The admin signed out, or the operator reset the second factor, in the meantime.
        const auto own_failures = store::set_session_verified(tx, session.id, now);
        if (!own_failures) throw Error(ErrorCode::Unauthorized).detail("reason", "SESSION_ENDED");
        store::set_second_factor_guesses(tx, admin.id,
                                         rules::after_right_code(admin.guesses, *own_failures));
        const char* action = session.verified_at ? "session.verified" : "session.opened";
        audit_admin(tx, session.active_organization_id, admin.id, request_id, action, {}, now);
        return true;
    });
}

[[noreturn]] void reject_without_factor() {
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "two-factor authentication is not set up: enable it first");
}

}  // namespace

Enrollment enable_two_factor(Context& context, const rules::Session& session) {
    return context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        const auto admin = lock_session_admin(tx, session);
        if (admin.totp_enrolled_at) {
            throw Error(ErrorCode::InvalidState)
                .detail("reason", "two-factor authentication is already set up");
        }
        Enrollment made;
        const Secret secret = rules::create_totp_secret();
        made.secret = Secret(to_base32(secret.reveal()));
        made.uri = Secret(rules::totp_uri(secret, admin.email));
        made.backup_codes = rules::create_backup_codes();
        store::set_totp_secret(tx, admin.id,
                               context.keys.seal(secret.reveal(), rules::totp_seal_name(admin.id)));
        std::vector<std::string> hashes;
        for (const Secret& code : made.backup_codes) {
            hashes.push_back(rules::backup_code_hash(admin.id, code.reveal()));
        }
        store::replace_backup_codes(tx, admin.id, hashes, now);
        return made;
    });
}

bool verify_totp(Context& context, const rules::Session& session, std::string_view code,
                 std::string_view request_id) {
    return verify(context, session, request_id, [&](db::Tx& tx, const auto& admin, Timestamp now) {
        if (admin.totp_secret.empty()) reject_without_factor();
        const auto secret = context.keys.open(admin.totp_secret, rules::totp_seal_name(admin.id));
        if (!secret) {
            throw Error(ErrorCode::ServiceUnavailable)
                .retry_after(60)
                .internal("a TOTP secret is encrypted with a key that is not configured");
        }
        const auto step = rules::matching_totp_step(*secret, code, now, admin.totp_last_step);
        if (!step) return false;
        store::set_totp_last_step(tx, admin.id, *step);
        if (!admin.totp_enrolled_at) {
            store::set_totp_enrolled(tx, admin.id, now);
            audit_everywhere(tx, admin.id, request_id, "second_factor.enrolled", now);
        }
        return true;
    });
}

bool verify_backup_code(Context& context, const rules::Session& session, std::string_view code,
                        std::string_view request_id) {
    return verify(context, session, request_id, [&](db::Tx& tx, const auto& admin, Timestamp now) {
        if (!admin.totp_enrolled_at) reject_without_factor();
        if (!store::use_backup_code(tx, admin.id, rules::backup_code_hash(admin.id, code))) {
            return false;
        }
        audit_everywhere(tx, admin.id, request_id, "backup_code.used", now);
        return true;
    });
}

AdminId reset_two_factor(Context& context, std::string_view email) {
    const std::string address = checked_address(email);
    const Timestamp now = Timestamp::now();
    return context.database.transaction([&](db::Tx& tx) {
        const auto found = store::find_admin(tx, address);
        const auto admin = found ? store::lock_admin(tx, found->id) : std::nullopt;
        if (!admin) throw std::invalid_argument("there is no admin with this address");
        store::clear_second_factor(tx, admin->id);
        store::delete_sessions_of(tx, admin->id);
        for (const auto& seat : store::find_seats(tx, admin->id)) {
            audit_operator(tx, seat.organization_id, "second_factor.reset", admin->id.text(), {},
                           now);
        }
        return admin->id;
    });
}

}  // namespace muster::service
