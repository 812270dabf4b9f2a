#include "service/access/two_factor.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "db/transaction.hpp"
#include "rules/access/totp.hpp"
#include "rules/seal_names.hpp"
#include "service/access/budgets.hpp"
#include "service/access/notices.hpp"
#include "service/access/organizations.hpp"
#include "service/access/seats.hpp"
#include "service/access/sessions.hpp"
#include "service/access/team.hpp"
#include "service/audit.hpp"
#include "store/access/admins.hpp"
#include "store/access/invitations.hpp"
#include "store/access/sessions.hpp"
#include "store/access/sign_in.hpp"

#include <functional>
#include <stdexcept>

namespace muster::service {
namespace {

// Budgets of an admin, because each code writes to audit logs. With 40 right codes of each admin,
// the 200 seats of a team fill less than half of its log of a day. Because of the pauses, only an
// admin who also has right codes uses up the wrong ones.
constexpr rules::Budget kRightCodes{40, std::chrono::days(1)};
constexpr Milliseconds kWrongCodeTime = std::chrono::days(1);
constexpr rules::Budget kLoggedWrongCodes{50, kWrongCodeTime};
constexpr std::string_view kRightCode = "right code";  // the names of these budgets
constexpr std::string_view kWrongCode = "wrong code";
// The wrong codes beyond kLoggedWrongCodes since the last one that was logged, which is the first.
constexpr std::string_view kUnloggedCode = "unlogged code";
constexpr Milliseconds kUnloggedTime = std::chrono::hours(1);

void spend_right_code(db::Tx& tx, AdminId admin, Timestamp now) {
    const auto seconds =
        try_spend(tx, kAdminBudget, admin_subject(kRightCode, admin), kRightCodes, now)
            .wait_seconds;
    if (!seconds) return;
    throw Error(ErrorCode::RateLimited)
        .retry_after(*seconds)
        .detail("reason", "an admin proves the second factor at most 40 times within 24 hours");
}

void forget_codes(db::Tx& tx, AdminId admin, Timestamp now) {
    for (const std::string_view kind : {kRightCode, kWrongCode, kUnloggedCode}) {
        store::write_guess_budget(tx, kAdminBudget, admin_subject(kind, admin), "", now);
    }
}

// Writes to the audit log of every organization where the admin has a seat.
void audit_everywhere(db::Tx& tx, AdminId admin, std::string_view request_id,
                      std::string_view action, Timestamp now, AuditDetails details = {}) {
    for (const OrgId& organization : sorted_organizations_of(store::find_seats(tx, admin))) {
        audit_admin(tx, organization, admin, request_id, action, details, now);
    }
}

[[noreturn]] void reject_ended_session() {
    throw Error(ErrorCode::Unauthorized).detail("reason", "SESSION_ENDED");
}

rules::Admin lock_session_admin(db::Tx& tx, const rules::Session& session) {
    auto admin = store::lock_admin(tx, session.admin_id);
    if (!admin) reject_ended_session();
    return std::move(*admin);
}

void reject_while_paused(const rules::Admin& admin, Timestamp now) {
    const auto seconds = rules::seconds_paused(admin.guesses, now);
    if (seconds) throw Error(ErrorCode::RateLimited).retry_after(*seconds);
}

// Counts a wrong code. `is_within`: within kLoggedWrongCodes. Of the others, one an hour is logged.
// Returns how many codes since the last logged one had no entry (63: or more); nullopt if this one
// is not logged.
std::optional<std::size_t> count_unlogged(db::Tx& tx, AdminId admin, bool is_within,
                                          Timestamp now) {
    const std::string subject = admin_subject(kUnloggedCode, admin);
    rules::SpentTimes codes(store::lock_guess_budget(tx, kAdminBudget, subject));
    const std::size_t before = codes.size();
    const bool is_logged =
        is_within || before == 0 || !codes.exhausted({before, kUnloggedTime}, now);
    if (is_logged) codes = {};
    // The first time is that of the logged code; a full list keeps it.
    if (!is_within && codes.size() < rules::SpentTimes::kMost) codes.spend(now, kWrongCodeTime);
    if (!is_within || before > 0) {
        store::write_guess_budget(tx, kAdminBudget, subject, codes.packed(), now + kWrongCodeTime);
    }
    if (!is_logged) return std::nullopt;
    return before == 0 ? 0 : before - 1;
}

void count_failure(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin, SessionId session,
                   std::string_view request_id, Timestamp now) {
    const auto guesses = rules::after_wrong_code(admin.guesses, now);
    store::set_second_factor_guesses(tx, admin.id, guesses);
    store::count_session_failure(tx, session);
    const bool is_within =
        !try_spend(tx, kAdminBudget, admin_subject(kWrongCode, admin.id), kLoggedWrongCodes, now)
             .wait_seconds;
    const auto unlogged = count_unlogged(tx, admin.id, is_within, now);
    if (unlogged) {
        audit_refused_sign_in(tx, sorted_organizations_of(store::find_seats(tx, admin.id)),
                              admin.id, "second_factor", request_id, now, *unlogged);
    }
    const auto seconds = rules::seconds_paused(guesses, now);
    if (!seconds) return;
    if (is_within) {
        audit_everywhere(tx, admin.id, request_id, "second_factor.paused", now,
                         {{"minutes", std::to_string(*seconds / 60)}});
    }
    if (guesses.pauses == 1) notify_of_pause(tx, keys, admin, now);
}

// Forgives the wrong codes of the session, too.
void mark_verified(db::Tx& tx, const rules::Admin& admin, SessionId session, Timestamp now) {
    // nullopt: the admin signed out, or the operator reset the second factor, in the meantime.
    const auto own_failures = store::set_session_verified(tx, session, now);
    if (!own_failures) reject_ended_session();
    store::set_second_factor_guesses(tx, admin.id,
                                     rules::after_right_code(admin.guesses, *own_failures));
}

// Whether a session can act: its admin has a seat, or an invitation to accept or decline.
bool can_act(db::Tx& tx, const rules::Admin& admin, const std::optional<OrgId>& organization,
             Timestamp now) {
    return organization || !store::find_invitations_of(tx, admin.email, now, 1).empty();
}

// Logs the right code. nullopt: an invitation was withdrawn or a seat was removed during the
// sign-in, and its session ends. A session that was verified before continues, also while the
// organizations of its admin are disabled.
std::optional<FactorResult> continue_session(db::Tx& tx, const rules::Admin& admin,
                                             const FactorAttempt& attempt, Timestamp now) {
    const rules::Session& session = attempt.session;
    const bool is_sign_in = !session.verified_at;
    const auto organization = organization_of_sign_in(tx, session);
    if (is_sign_in && !can_act(tx, admin, organization, now)) {
        store::delete_session(tx, session.id);
        return std::nullopt;
    }
    if (organization && is_sign_in && *organization != session.active_organization_id) {
        store::set_active_organization(tx, session.id, *organization);
    }
    if (organization) {
        const char* action = is_sign_in ? "session.opened" : "session.verified";
        audit_admin(tx, *organization, admin.id, attempt.request_id, action, {}, now);
    }
    return FactorResult{true,
                        attempt.replaces_token ? replace_session_token(tx, session.id) : Secret()};
}

using UseCode = std::function<bool(db::Tx&, const rules::Admin&, Timestamp)>;
using Work = std::function<void(db::Tx&, const rules::Admin&, Timestamp)>;

// Runs `use_code` under the admin's lock; it returns false if the code is wrong. Then runs `work`
// and marks the session as verified, or counts a failure, which is committed too.
FactorResult verify(Context& context, const FactorAttempt& attempt, const UseCode& use_code,
                    const Work& work) {
    auto result = context.database.transaction([&](db::Tx& tx) -> std::optional<FactorResult> {
        const Timestamp now = Timestamp::now();
        const auto admin = lock_session_admin(tx, attempt.session);
        reject_while_paused(admin, now);
        if (!use_code(tx, admin, now)) {
            count_failure(tx, context.keys, admin, attempt.session.id, attempt.request_id, now);
            return FactorResult{};
        }
        spend_right_code(tx, admin.id, now);
        if (!attempt.session.verified_at)
            accept_first_invitation(tx, context.keys, admin, attempt.request_id, now);
        if (!rules::is_totp_code(attempt.code))
            audit_everywhere(tx, admin.id, attempt.request_id, "backup_code.used", now);
        work(tx, admin, now);
        mark_verified(tx, admin, attempt.session.id, now);
        return continue_session(tx, admin, attempt, now);
    });
    if (!result) reject_ended_session();
    return std::move(*result);
}

[[noreturn]] void reject_without_factor() {
    throw Error(ErrorCode::InvalidState)
        .detail("reason", "two-factor authentication is not set up: enable it first");
}

// Uses up the time step of the code. False if the code is wrong, or not of a later step than the
// last one that was used.
bool use_totp_code(db::Tx& tx, const KeyRing& keys, const rules::Admin& admin,
                   std::string_view code, Timestamp now) {
    if (admin.totp_secret.empty()) reject_without_factor();
    const auto secret = keys.open(admin.totp_secret, rules::totp_seal_name(admin.id));
    if (!secret) {
        throw Error(ErrorCode::ServiceUnavailable)
            .retry_after(60)
            .internal("a TOTP secret is encrypted with a key that is not configured");
    }
    const auto step = rules::matching_totp_step(*secret, code, now, admin.totp_last_step);
    if (step) store::set_totp_last_step(tx, admin.id, *step);
    return step.has_value();
}

// False if the code is wrong or was used.
bool use_backup_code(db::Tx& tx, const rules::Admin& admin, std::string_view code) {
    if (!admin.totp_enrolled_at) reject_without_factor();
    return store::use_backup_code(tx, admin.id, rules::backup_code_hash(admin.id, code));
}

// Uses up a code of either kind. A backup code has letters, and more characters.
UseCode use_of_any_code(const KeyRing& keys, std::string_view code) {
    return [&keys, code](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        return rules::is_totp_code(code) ? use_totp_code(tx, keys, admin, code, now)
                                         : use_backup_code(tx, admin, code);
    };
}

void set_backup_codes(db::Tx& tx, AdminId admin, const std::vector<Secret>& codes, Timestamp now) {
    std::vector<std::string> hashes;
    hashes.reserve(codes.size());
    for (const Secret& code : codes)
        hashes.push_back(rules::backup_code_hash(admin, code.reveal()));
    store::replace_backup_codes(tx, admin, hashes, now);
}

// The secret that replace_authenticator() showed to this session.
Secret next_secret(db::Tx& tx, const KeyRing& keys, const rules::Session& session, Timestamp now) {
    const auto sealed =
        store::find_next_totp_secret(tx, session.id, now - rules::kRecentSecondFactor);
    auto secret =
        sealed ? keys.open(*sealed, rules::next_totp_seal_name(session.id)) : std::nullopt;
    if (secret) return std::move(*secret);
    throw Error(ErrorCode::InvalidState)
        .detail("reason",
                "this session has begun no replacement of the authenticator in the last 15 "
                "minutes: begin it again");
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
        set_backup_codes(tx, admin.id, made.backup_codes, now);
        return made;
    });
}

FactorResult verify_totp(Context& context, const FactorAttempt& attempt) {
    const auto use_code = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        return use_totp_code(tx, context.keys, admin, attempt.code, now);
    };
    const auto enroll = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        if (admin.totp_enrolled_at) return;
        store::set_totp_enrolled(tx, admin.id, now);
        audit_everywhere(tx, admin.id, attempt.request_id, "second_factor.enrolled", now);
    };
    return verify(context, attempt, use_code, enroll);
}

FactorResult verify_backup_code(Context& context, const FactorAttempt& attempt) {
    const auto use_code = [&](db::Tx& tx, const rules::Admin& admin, Timestamp) {
        return use_backup_code(tx, admin, attempt.code);
    };
    return verify(context, attempt, use_code, [](db::Tx&, const rules::Admin&, Timestamp) {});
}

std::int64_t count_backup_codes(Context& context, AdminId admin) {
    return context.database.autocommit(
        [&](db::Tx& tx) { return store::count_backup_codes(tx, admin); });
}

std::vector<Secret> replace_backup_codes(Context& context, const FactorAttempt& attempt) {
    const auto codes = rules::create_backup_codes();
    const auto replace = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        set_backup_codes(tx, admin.id, codes, now);
        audit_everywhere(tx, admin.id, attempt.request_id, "backup_codes.replaced", now);
        notify_of_factor(tx, context.keys, admin, FactorChange::BackupCodes, now);
    };
    const auto result =
        verify(context, attempt, use_of_any_code(context.keys, attempt.code), replace);
    return result.is_right ? codes : std::vector<Secret>();
}

std::optional<NextAuthenticator> replace_authenticator(Context& context,
                                                       const FactorAttempt& attempt) {
    const Secret secret = rules::create_totp_secret();
    const SessionId session = attempt.session.id;
    const auto sealed = context.keys.seal(secret.reveal(), rules::next_totp_seal_name(session));
    const auto begin = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        require_factor_change(tx, admin.id, now);
        store::set_next_totp_secret(tx, session, sealed, now);
    };
    const auto result =
        verify(context, attempt, use_of_any_code(context.keys, attempt.code), begin);
    if (!result.is_right) return std::nullopt;
    return NextAuthenticator{Secret(to_base32(secret.reveal())),
                             Secret(rules::totp_uri(secret, attempt.session.email))};
}

bool confirm_authenticator(Context& context, const FactorAttempt& attempt) {
    const auto replace = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        const Secret secret = next_secret(tx, context.keys, attempt.session, now);
        // The steps that the current authenticator has used up are free for the new one.
        const auto step = rules::matching_totp_step(secret, attempt.code, now, 0);
        if (!step) return false;
        const auto sealed = context.keys.seal(secret.reveal(), rules::totp_seal_name(admin.id));
        store::replace_totp_secret(tx, admin.id, sealed, *step, now);
        store::clear_next_totp_secrets(tx, admin.id);
        return true;
    };
    const auto report = [&](db::Tx& tx, const rules::Admin& admin, Timestamp now) {
        audit_everywhere(tx, admin.id, attempt.request_id, "second_factor.replaced", now);
        notify_of_factor(tx, context.keys, admin, FactorChange::Authenticator, now);
    };
    return verify(context, attempt, replace, report).is_right;
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
        forget_factor_changes(tx, admin->id, now);
        forget_codes(tx, admin->id, now);
        for (const OrgId& organization : store::find_seat_organizations(tx, admin->id)) {
            audit_operator(tx, organization, "second_factor.reset", admin->id.text(), {}, now);
        }
        return admin->id;
    });
}

}  // namespace muster::service
