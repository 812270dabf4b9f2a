#include "service/access/sign_in.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "db/transaction.hpp"
#include "rules/access/guess_budget.hpp"
#include "service/access/seats.hpp"
#include "service/audit.hpp"
#include "service/mail.hpp"
#include "store/access/admins.hpp"
#include "store/access/invitations.hpp"
#include "store/access/sign_in.hpp"

namespace muster::service {
namespace {

using rules::Budget;
using rules::SpentTimes;

constexpr std::size_t kCodeDigits = 8;
constexpr std::int64_t kTriesPerCode = 5;
constexpr Milliseconds kCodeLife{5L * 60 * 1000};
constexpr Milliseconds kMinute{60L * 1000};
constexpr Milliseconds kHour{3600L * 1000};
constexpr Budget kRequestsAMinute{1, kMinute};
constexpr Budget kRequestsAnHour{5, kHour};
// 20 guesses an hour at an eight-digit code succeed with a probability of 0.2 % in a year.
constexpr Budget kFailuresAnHour{20, kHour};

std::string subject_of(const Context& context, std::string_view email) {
    return hmac_sha256(context.keys.derive("guess budgets").reveal(), email);
}

std::string code_hash(const Context& context, std::string_view subject, std::string_view code) {
    const Secret key = context.keys.derive("sign-in codes");
    return hmac_sha256(key.reveal(), std::string(subject) + std::string(code));
}

void require(const SpentTimes& spent, Budget budget, Timestamp now) {
    if (const auto seconds = spent.exhausted(budget, now)) {
        throw Error(ErrorCode::RateLimited).retry_after(*seconds);
    }
}

void spend(db::Tx& tx, std::string_view kind, std::string_view subject, SpentTimes spent,
           Milliseconds keep, Timestamp now) {
    spent.spend(now, keep);
    store::write_guess_budget(tx, kind, subject, spent.packed(), now + keep);
}

// Whether no attempt was made since the last full hour. A stranger can cause 20 failures an hour,
// which must not fill the audit log.
bool is_first_of_hour(const SpentTimes& spent, Timestamp now) {
    const Milliseconds since_hour{now.milliseconds() % kHour.count()};
    return !spent.exhausted({1, since_hour}, now);
}

// A rejected request costs nothing: the exception rolls back what was spent.
void spend_request(db::Tx& tx, std::string_view subject, Timestamp now) {
    const SpentTimes spent(store::lock_guess_budget(tx, "otp_request", subject));
    require(spent, kRequestsAMinute, now);
    require(spent, kRequestsAnHour, now);
    spend(tx, "otp_request", subject, spent, kHour, now);
}

Mail mail_of(std::string_view address, const Secret& code) {
    return {std::string(address), "Your sign-in code",
            "Your code to sign in to Muster is\n\n    " + code.reveal() +
                "\n\nIt is valid for five minutes and works once. If you did not ask for it, "
                "another\nperson typed your address: ignore this mail.\n"};
}

// A person with at least one seat or invitation.
struct EligiblePerson {
    std::optional<rules::Admin> admin;
    std::vector<rules::Seat> seats;
    std::optional<OrgId> invited_to;

    AdminId id() const { return admin ? admin->id : AdminId(); }
    // The earliest seat, or one without a role in the organization of an invitation.
    std::pair<OrgId, std::optional<rules::Role>> first_seat() const {
        if (seats.empty()) return {invited_to.value(), std::nullopt};
        return {seats.front().organization_id, seats.front().role};
    }
};
std::optional<EligiblePerson> find_eligible_person(db::Tx& tx, std::string_view email,
                                                   Timestamp now) {
    EligiblePerson person{store::find_admin(tx, email), {}, {}};
    person.seats = store::find_seats(tx, person.id());
    const auto invitations = store::find_invitations_of(tx, email, now, 1);
    if (!invitations.empty()) person.invited_to = invitations.front().organization_id;
    if (person.seats.empty() && !person.invited_to) return std::nullopt;
    return person;
}

// Creates the admin if this is the first sign-in of an invited person.
rules::Admin admin_of(db::Tx& tx, const EligiblePerson& person, std::string_view email,
                      Timestamp now) {
    if (person.admin) return *person.admin;
    rules::Admin admin;
    admin.id = store::find_or_insert_admin(tx, email, now);
    admin.email = email;
    return admin;
}

bool is_valid_code(const Context& context, const std::optional<store::OtpCode>& live,
                   std::string_view subject, std::string_view code, Timestamp now) {
    const std::string hash = code_hash(context, subject, code);
    const std::string expected = live ? live->code_hash : std::string(hash.size(), '\0');
    const bool matches = equal_in_constant_time(hash, expected);
    return matches && live && live->expires_at > now && live->failures < kTriesPerCode;
}

}  // namespace

void request_sign_in_code(Context& context, std::string_view email) {
    const std::string subject = subject_of(context, email);
    context.database.transaction([&](db::Tx& tx) {
        const Timestamp now = Timestamp::now();
        spend_request(tx, subject, now);
        const auto found = find_eligible_person(tx, email, now);
        const Secret code = random_digits(kCodeDigits);
        store::replace_otp_code(tx, subject,
                                {code_hash(context, subject, code.reveal()), 0, now + kCodeLife});
        queue_urgent_mail(tx, context.keys, mail_of(found ? email : "", code), now,
                          now + kCodeLife);
    });
}

std::optional<SignedIn> verify_sign_in_code(Context& context, std::string_view email,
                                            std::string_view code, std::string_view request_id,
                                            const rules::SessionClient& client,
                                            const std::optional<std::string>& previous) {
    const std::string subject = subject_of(context, email);
    return context.database.transaction([&](db::Tx& tx) -> std::optional<SignedIn> {
        const Timestamp now = Timestamp::now();
        const SpentTimes failures(store::lock_guess_budget(tx, "otp_verify", subject));
        require(failures, kFailuresAnHour, now);
        const auto live = store::lock_otp_code(tx, subject);
        // So that the removal of the last seat ends the session that is opened here, or prevents
        // it. A stranger has the same statements.
        const auto known = store::find_admin(tx, email);
        (void)store::lock_admin(tx, known ? known->id : AdminId());
        auto found = find_eligible_person(tx, email, now);
        if (!is_valid_code(context, live, subject, code, now) || !found) {
            // Committed, so that the failure counts. The caller answers 401.
            spend(tx, "otp_verify", subject, failures, kHour, now);
            if (live) store::set_otp_failures(tx, subject, live->failures + 1);
            if (is_first_of_hour(failures, now)) {
                audit_refused_sign_in(
                    tx, found ? sorted_organizations_of(found->seats) : std::vector<OrgId>(),
                    found ? found->id() : AdminId(), "mail_code", request_id, now);
            }
            return std::nullopt;
        }
        store::delete_otp_code(tx, subject);
        if (previous) close_session_of(tx, *previous);
        const auto [organization, role] = found->first_seat();
        auto opened =
            open_session(tx, admin_of(tx, *found, email, now), organization, role, client, now);
        return SignedIn{std::move(opened), std::move(found->seats)};
    });
}

}  // namespace muster::service
