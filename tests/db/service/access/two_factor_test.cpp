// service/access/two_factor.hpp: enrollment, single use of each code, a limit on guesses over all
// sessions of an admin, and backup codes.
#include "service/access/two_factor.hpp"
#include "rules/audit.hpp"

#include "db/admins.hpp"

#include <algorithm>
#include <atomic>
#include <set>

using namespace muster;
using service::Enrollment;
using test::AdminFixture;
using test::code_of;
using test::kDay;
using test::kHour;
using test::kMinute;

namespace {

// Decodes RFC 4648 base32.
std::string from_base32(std::string_view text) {
    std::string bytes;
    unsigned bits = 0;
    unsigned value = 0;
    for (const char c : text) {
        value = value << 5U | static_cast<unsigned>(c >= 'A' ? c - 'A' : c - '2' + 26);
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(value >> bits & 0xffU);
    }
    return bytes;
}

struct TwoFactor : AdminFixture {
    Enrollment enable(const Secret& token) {
        return service::enable_two_factor(context, session_of(token).value());
    }
    Enrollment enable() { return enable(opened.token); }

    // The code of the current step, or of an adjacent one.
    static std::string code(const Enrollment& made, int shift = 0) {
        const Secret secret(from_base32(made.secret.reveal()));
        return rules::totp_code(secret, rules::totp_step(Timestamp::now()) + shift).reveal();
    }
    static std::string wrong(const Enrollment& made) {
        std::set<std::string> good;
        for (int shift = -2; shift <= 3; ++shift) good.insert(code(made, shift));
        std::string guess = "000000";
        while (good.contains(guess)) ++guess.back();
        return guess;
    }
    bool verify(const Secret& token, std::string_view totp) {
        return service::verify_totp(context, {session_of(token).value(), totp, "req-2"}).is_right;
    }
    bool verify(std::string_view totp) { return verify(opened.token, totp); }
    bool use(const Secret& token, std::string_view backup) {
        return service::verify_backup_code(context, {session_of(token).value(), backup, "req-3"})
            .is_right;
    }
    bool use(std::string_view backup) { return use(opened.token, backup); }
    bool is_verified(const Secret& token) { return session_of(token)->verified_at.has_value(); }
    // As if the last code had been used long ago.
    void forget_last_step() { client.run("UPDATE admins SET totp_last_step = 0"); }

    // Enrolled, with the last step cleared.
    Enrollment enrolled() {
        auto made = enable();
        BOOST_TEST_REQUIRE(verify(code(made)));
        forget_last_step();
        return made;
    }
    std::int64_t backup_codes() { return client.number("SELECT COUNT(*) FROM backup_codes"); }

    service::NewSession opened = sign_in();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(two_factor, TwoFactor)

// ---------------------------------------------------------------------------- enrolling

BOOST_AUTO_TEST_CASE(an_enrollment_shows_its_secret_its_uri_and_ten_codes) {
    const auto made = enable();
    BOOST_TEST(made.secret.reveal().size() == 32U);
    BOOST_TEST(
        (made.uri.reveal() == rules::totp_uri(Secret(from_base32(made.secret.reveal())), kAnn)));
    BOOST_TEST(made.backup_codes.size() == 10U);
    BOOST_TEST(backup_codes() == 10);
}

BOOST_AUTO_TEST_CASE(an_enrollment_is_active_after_its_first_code) {
    const auto made = enable();
    BOOST_TEST(!is_verified(opened.token));
    BOOST_TEST(!session_of(opened.token)->is_enrolled);
    BOOST_TEST(code_of([&] { use(made.backup_codes[0].reveal()); }) == ErrorCode::InvalidState);
    BOOST_TEST(!verify(wrong(made)));
    BOOST_TEST(!session_of(opened.token)->is_enrolled);
    BOOST_TEST(verify(code(made)));
    BOOST_TEST(session_of(opened.token)->is_enrolled);
    BOOST_TEST(is_verified(opened.token));
    BOOST_TEST(code_of([&] { enable(); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_new_enrollment_replaces_an_inactive_one) {
    const auto first = enable();
    const auto second = enable();
    BOOST_TEST(!verify(code(first)));
    BOOST_TEST(verify(code(second)));
    BOOST_TEST(backup_codes() == 10);
    BOOST_TEST(!use(first.backup_codes[0].reveal()));
    BOOST_TEST(use(second.backup_codes[0].reveal()));
}

BOOST_AUTO_TEST_CASE(without_an_enrollment_verification_is_rejected) {
    BOOST_TEST(code_of([&] { verify("123456"); }) == ErrorCode::InvalidState);
    BOOST_TEST(code_of([&] { use("abcd-efgh-ijkl-mnop"); }) == ErrorCode::InvalidState);
    BOOST_TEST(client.number("SELECT second_factor_failures FROM admins") == 0);
}

BOOST_AUTO_TEST_CASE(no_secret_is_stored_in_clear_text) {
    const auto made = enable();
    const std::string raw = from_base32(made.secret.reveal());
    const std::string row = client.value("SELECT totp_secret FROM admins");
    for (const std::string& text : {raw, made.secret.reveal(), to_hex(raw), raw.substr(0, 6)}) {
        BOOST_TEST(row.find(text) == std::string::npos);
    }
    BOOST_TEST(context.keys.open(row, "totp:" + std::string(ann.bytes()))->reveal() == raw);
    BOOST_TEST(!context.keys.open(row, "totp:" + std::string(AdminId::create().bytes())));
    for (const Secret& code : made.backup_codes) {
        BOOST_TEST(client.number("SELECT COUNT(*) FROM backup_codes WHERE code_hash = ?",
                                 rules::backup_code_hash(ann, code.reveal())) == 1);
        BOOST_TEST(client.number("SELECT COUNT(*) FROM backup_codes WHERE LOCATE(?, code_hash) > 0",
                                 code.reveal().substr(0, 4)) == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_secret_copied_from_another_admin_does_not_work) {
    const AdminId bob = service::add_admin(context, acme, "bob@example.test", "viewer").id;
    const auto made = enrolled();
    client.execute(
        "UPDATE admins b JOIN admins a ON a.id = ? SET b.totp_secret = a.totp_secret, "
        "b.totp_enrolled_at = 1 WHERE b.id = ?",
        ann, bob);
    const auto other = sign_in("bob@example.test");
    BOOST_TEST(
        (test::code_of([&] { verify(other.token, code(made)); }) == ErrorCode::ServiceUnavailable));
    BOOST_TEST(!is_verified(other.token));
}

// ---------------------------------------------------------------------------- single use

BOOST_AUTO_TEST_CASE(no_code_is_accepted_twice_not_even_the_enrollment_code_in_another_session) {
    const auto made = enable();
    const std::string used = code(made);
    BOOST_TEST(verify(used));
    BOOST_TEST(!verify(used));
    const auto other = sign_in();
    BOOST_TEST(!verify(other.token, used));
    BOOST_TEST(!verify(other.token, code(made, -1)));
    BOOST_TEST(!is_verified(other.token));
    const std::string next = code(made, 1);
    BOOST_TEST(verify(other.token, next));
    BOOST_TEST(!verify(other.token, next));
}

BOOST_AUTO_TEST_CASE(parallel_sessions_with_one_code_verify_one_session) {
    const auto made = enrolled();
    std::vector<rules::Session> sessions;
    for (int i = 0; i < 4; ++i) sessions.push_back(session_of(sign_in().token).value());
    const std::string one = code(made);
    std::atomic<int> let_in = 0;
    test::in_parallel(4, [&](int i) {
        test::DatabaseContext worker;
        if (service::verify_totp(worker.context, {sessions.at(i), one, "r"}).is_right) ++let_in;
    });
    BOOST_TEST(let_in == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM sessions WHERE verified_at IS NOT NULL") == 2);
    BOOST_TEST(client.number("SELECT second_factor_failures FROM admins") <= 3);
}

BOOST_AUTO_TEST_CASE(a_verified_session_verifies_its_factor_again) {
    const auto made = enrolled();
    client.run("UPDATE sessions SET verified_at = 1");
    const Timestamp before = Timestamp::now();
    BOOST_TEST(verify(code(made)));
    BOOST_TEST((session_of(opened.token)->verified_at.value() >= before));
    const std::vector<std::string> newest = {"session.verified", "session.opened"};
    const auto all = actions(acme);
    BOOST_TEST((std::vector<std::string>(all.begin(), all.begin() + 2) == newest));
}

// ---------------------------------------------------------------------------- guessing

BOOST_AUTO_TEST_CASE(five_failures_over_all_sessions_block_right_codes_for_a_quarter_of_an_hour) {
    const auto made = enrolled();
    const std::vector<service::NewSession> others = [&] {
        std::vector<service::NewSession> list;
        for (int i = 0; i < 3; ++i) list.push_back(sign_in());
        return list;
    }();
    BOOST_TEST(!verify(others[0].token, wrong(made)));
    BOOST_TEST(!use(others[1].token, "abcd-efgh-ijkl-mnop"));
    BOOST_TEST(!verify(others[2].token, wrong(made)));
    BOOST_TEST(!verify(others[0].token, wrong(made)));
    BOOST_TEST(!use(others[0].token, "abcd-efgh-ijkl-mnop"));
    for (const auto& other : others) {
        const auto error = test::error_of([&] { verify(other.token, code(made)); });
        BOOST_TEST_REQUIRE(error.has_value());
        BOOST_TEST(error->code() == ErrorCode::RateLimited);
        BOOST_TEST(error->retry_after() > 890);
        BOOST_TEST(error->retry_after() <= 900);
        BOOST_TEST(code_of([&] { use(other.token, made.backup_codes[0].reveal()); }) ==
                   ErrorCode::RateLimited);
    }
    // A new session does not help before the time is over.
    BOOST_TEST(code_of([&] { verify(sign_in().token, code(made)); }) == ErrorCode::RateLimited);
    advance_time(14 * kMinute);
    BOOST_TEST(code_of([&] { verify(others[0].token, code(made)); }) == ErrorCode::RateLimited);
    BOOST_TEST(backup_codes() == 10);
    advance_time(kMinute);
    BOOST_TEST(verify(others[0].token, code(made)));
}

BOOST_AUTO_TEST_CASE(a_pause_allows_five_more_attempts_and_a_right_code_resets_the_count) {
    const auto made = enrolled();
    const auto fail = [&](int times) {
        for (int i = 0; i < times; ++i) BOOST_TEST(!verify(wrong(made)));
    };
    fail(5);
    advance_time(15 * kMinute);
    fail(4);
    BOOST_TEST(verify(code(made)));
    forget_last_step();
    fail(4);
    BOOST_TEST(verify(code(made)));
    forget_last_step();
    fail(5);
    BOOST_TEST(code_of([&] { verify(code(made)); }) == ErrorCode::RateLimited);
}

BOOST_AUTO_TEST_CASE(pauses_grow_until_the_session_that_mistyped_sends_a_right_code) {
    const auto made = enrolled();
    const auto guesser = sign_in();
    const auto pause_of = [&](const Secret& token) {
        for (int i = 0; i < 5; ++i) BOOST_TEST(!verify(token, wrong(made)));
        const int seconds = test::error_of([&] { verify(token, code(made)); })->retry_after();
        advance_time(Milliseconds(1000L * seconds));
        return (seconds + 59) / 60;
    };
    BOOST_TEST(pause_of(guesser.token) == 15);
    BOOST_TEST(pause_of(guesser.token) == 30);
    BOOST_TEST(verify(code(made)));  // the admin's own session
    forget_last_step();
    BOOST_TEST(pause_of(guesser.token) == 60);
    BOOST_TEST(verify(guesser.token, code(made)));
    forget_last_step();
    BOOST_TEST(pause_of(guesser.token) == 15);
}

BOOST_AUTO_TEST_CASE(right_codes_of_a_day_are_bounded_and_the_next_one_stays_valid) {
    const auto made = enrolled();
    for (int i = 1; i < 40; ++i, forget_last_step()) BOOST_TEST(verify(code(made)), i);
    BOOST_TEST(code_of([&] { verify(code(made)); }) == ErrorCode::RateLimited);
    BOOST_TEST(code_of([&] { use(made.backup_codes[0].reveal()); }) == ErrorCode::RateLimited);
    BOOST_TEST(backup_codes() == 10);
    service::reset_two_factor(context, kAnn);
    opened = sign_in();
    BOOST_TEST(verify(code(enable())));
}

BOOST_AUTO_TEST_CASE(an_admin_who_forgives_their_own_wrong_codes_fills_no_audit_log) {
    const auto made = enrolled();
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 4; ++i) BOOST_TEST(!verify(wrong(made)));
        BOOST_TEST(verify(code(made)));
        forget_last_step();
    }
    const auto entries = [&](const char* action) {
        return client.number("SELECT COUNT(*) FROM audit_log WHERE action = ?", action);
    };
    BOOST_TEST(entries("sign_in.refused") == 51);
    BOOST_TEST(entries("session.verified") == 20);
    advance_time(kHour);
    BOOST_TEST(!verify(wrong(made)));
    BOOST_TEST(client.number("SELECT MAX(CAST(JSON_VALUE(details, '$.unlogged') AS SIGNED)) "
                             "FROM audit_log") == 29);
}

BOOST_AUTO_TEST_CASE(the_first_pause_is_mailed_to_the_admin_and_the_owners) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, "owner@other.test", "owner");
    service::add_admin(context, other, kAnn, "viewer");
    service::add_admin(context, other, "viewer@other.test", "viewer");
    service::add_admin(context, organization("Third"), "owner@third.test", "owner");
    const auto made = enrolled();
    client.run("DELETE FROM mail_outbox");
    const auto addressees = [&] {
        std::vector<std::string> all;
        for (const auto& mail : mails()) all.push_back(mail.to);
        std::sort(all.begin(), all.end());
        return all;
    };
    for (int i = 0; i < 4; ++i) (void)verify(wrong(made));
    BOOST_TEST(addressees().empty());
    (void)verify(wrong(made));
    BOOST_TEST(addressees() == (std::vector<std::string>{std::string(kAnn), "owner@other.test"}),
               boost::test_tools::per_element());
    BOOST_TEST(mails().front().text.find(kAnn) != std::string::npos);
    BOOST_TEST(mails().front().text.find(wrong(made)) == std::string::npos);
    advance_time(15 * kMinute);
    for (int i = 0; i < 5; ++i) (void)verify(wrong(made));
    BOOST_TEST(addressees().size() == 2U);  // the second pause is not mailed
}

BOOST_AUTO_TEST_CASE(an_admin_who_mistypes_every_hour_gets_three_mails_a_day) {
    const auto made = enrolled();
    client.run("DELETE FROM mail_outbox");
    for (int i = 0; i < 5; ++i) {
        for (int wrong_codes = 0; wrong_codes < 5; ++wrong_codes) (void)verify(wrong(made));
        advance_time(kHour);
        BOOST_TEST(verify(code(made)));
        forget_last_step();
    }
    BOOST_TEST(mails().size() == 3U);
    advance_time(kDay);
    const auto later = sign_in();
    client.run("DELETE FROM mail_outbox");
    for (int i = 0; i < 5; ++i) (void)verify(later.token, wrong(made));
    BOOST_TEST(mails().size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_pause_of_one_admin_does_not_affect_another) {
    service::add_admin(context, acme, "bob@example.test", "viewer");
    const auto made = enrolled();
    for (int i = 0; i < 5; ++i) (void)verify(wrong(made));
    const auto other = sign_in("bob@example.test");
    const auto bob_s = enable(other.token);
    BOOST_TEST(verify(other.token, code(bob_s)));
}

BOOST_AUTO_TEST_CASE(parallel_guesses_are_counted_individually) {
    const auto made = enrolled();
    const auto session = session_of(opened.token).value();
    const std::string guess = wrong(made);
    std::atomic<int> checked = 0;
    std::atomic<int> refused = 0;
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        for (int i = 0; i < 3; ++i) {
            try {
                if (!service::verify_totp(worker.context, {session, guess, "r"}).is_right)
                    ++checked;
            } catch (const Error& error) {
                if (error.code() == ErrorCode::RateLimited) ++refused;
            }
        }
    });
    BOOST_TEST(checked == 5);
    BOOST_TEST(refused == 19);
}

// ---------------------------------------------------------------------------- backup codes

BOOST_AUTO_TEST_CASE(a_backup_code_works_once_in_any_notation) {
    const auto made = enrolled();
    const auto other = sign_in();
    std::string typed = made.backup_codes[3].reveal();
    ascii_upper(typed);
    std::replace(typed.begin(), typed.end(), '-', ' ');
    BOOST_TEST(use(other.token, typed));
    BOOST_TEST(is_verified(other.token));
    BOOST_TEST(backup_codes() == 9);
    BOOST_TEST(!use(made.backup_codes[3].reveal()));
    BOOST_TEST(use(made.backup_codes[4].reveal()));
}

BOOST_AUTO_TEST_CASE(parallel_uses_of_one_backup_code_verify_one_session) {
    const auto made = enrolled();
    std::vector<rules::Session> sessions;
    for (int i = 0; i < 4; ++i) sessions.push_back(session_of(sign_in().token).value());
    std::atomic<int> let_in = 0;
    test::in_parallel(4, [&](int i) {
        test::DatabaseContext worker;
        const std::string& one = made.backup_codes[0].reveal();
        try {
            const auto used =
                service::verify_backup_code(worker.context, {sessions.at(i), one, "r"});
            if (used.is_right) ++let_in;
        } catch (const Error& error) {  // a pause after the wrong ones
            if (error.code() != ErrorCode::RateLimited) throw;
        }
    });
    BOOST_TEST(let_in == 1);
    BOOST_TEST(backup_codes() == 9);
}

BOOST_AUTO_TEST_CASE(the_backup_code_of_another_admin_is_rejected) {
    service::add_admin(context, acme, "bob@example.test", "viewer");
    const auto made = enrolled();
    const auto other = sign_in("bob@example.test");
    const auto bob_s = enable(other.token);
    BOOST_TEST(verify(other.token, code(bob_s)));
    BOOST_TEST(!use(other.token, made.backup_codes[0].reveal()));
    BOOST_TEST(use(made.backup_codes[0].reveal()));
}

// ---------------------------------------------------------------------------- signed out, reset

BOOST_AUTO_TEST_CASE(a_signed_out_session_is_rejected_and_uses_up_no_code) {
    const auto made = enrolled();
    const auto session = session_of(opened.token).value();
    service::close_session(context, session);
    BOOST_TEST(code_of([&] {
                   service::verify_totp(context, {session, code(made), "r"});
               }) == ErrorCode::Unauthorized);
    BOOST_TEST(code_of([&] {
                   const std::string& one = made.backup_codes[0].reveal();
                   service::verify_backup_code(context, {session, one, "r"});
               }) == ErrorCode::Unauthorized);
    BOOST_TEST(backup_codes() == 10);
    BOOST_TEST(verify(sign_in().token, code(made)));
}

BOOST_AUTO_TEST_CASE(a_reset_removes_the_factor_the_codes_the_pause_and_the_sessions) {
    const auto made = enrolled();
    for (int i = 0; i < 5; ++i) (void)verify(wrong(made));
    BOOST_TEST(service::reset_two_factor(context, " Ann@Example.test ") == ann);
    BOOST_TEST(!session_of(opened.token).has_value());
    BOOST_TEST(backup_codes() == 0);
    BOOST_TEST(client.value("SELECT totp_secret FROM admins") == "NULL");
    const auto again = sign_in();
    BOOST_TEST(!again.session.is_enrolled);
    BOOST_TEST(code_of([&] { verify(again.token, code(made)); }) == ErrorCode::InvalidState);
    BOOST_TEST(verify(again.token, code(enable(again.token))));
}

BOOST_AUTO_TEST_CASE(a_reset_of_an_unknown_admin_is_an_error) {
    for (const char* email : {"nobody@example.test", "no address", ""}) {
        BOOST_CHECK_THROW(service::reset_two_factor(context, email), std::invalid_argument);
    }
}

// ---------------------------------------------------------------------------- audit log

BOOST_AUTO_TEST_CASE(the_log_records_actor_action_and_request_without_secrets) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, kAnn, "viewer");
    const auto made = enable();
    const std::string first = code(made);
    BOOST_TEST(verify(first));
    BOOST_TEST(use(made.backup_codes[0].reveal()));
    for (int i = 0; i < 5; ++i) (void)verify(wrong(made));
    service::reset_two_factor(context, kAnn);
    // Newest first. Both organizations log the changes of the factor; only the organization of the
    // session logs the session.
    const std::vector<std::string> here = {
        "second_factor.reset", "second_factor.paused", "sign_in.refused",        "sign_in.refused",
        "sign_in.refused",     "sign_in.refused",      "sign_in.refused",        "session.verified",
        "backup_code.used",    "session.opened",       "second_factor.enrolled", "seat.added",
        "organization.created"};
    std::vector<std::string> there;
    for (const auto& action : here) {
        if (!action.starts_with("session.")) there.push_back(action);
    }
    BOOST_TEST(actions(acme) == here, boost::test_tools::per_element());
    BOOST_TEST(actions(other) == there, boost::test_tools::per_element());
    for (const auto& entry : log(acme)) {
        const bool is_operator_s = entry.action == "second_factor.reset" ||
                                   entry.action == "seat.added" ||
                                   entry.action == "organization.created";
        const bool is_refusal = entry.action == "sign_in.refused";
        const auto actor = is_operator_s ? rules::AuditActor::Operator
                           : is_refusal  ? rules::AuditActor::System
                                         : rules::AuditActor::Admin;
        BOOST_TEST(entry.actor == actor);
        BOOST_TEST(entry.actor_id ==
                   (is_operator_s || is_refusal ? std::nullopt : std::optional(ann)));
        if (is_refusal) {
            BOOST_TEST(entry.subject_id == ann.text());
            BOOST_TEST(entry.details == R"({"factor":"second_factor","request_id":"req-2"})");
        }
        const bool by_backup = entry.action == "backup_code.used";
        if (by_backup) BOOST_TEST(entry.request_id == "req-3");
        if (entry.action == "second_factor.enrolled") BOOST_TEST(entry.request_id == "req-2");
        if (is_operator_s) BOOST_TEST(!entry.request_id.has_value());
        const std::string all = entry.details + entry.subject_id.value_or("");
        for (const std::string& text :
             {std::string("ann"), first, made.secret.reveal(), made.backup_codes[0].reveal()}) {
            BOOST_TEST(all.find(text) == std::string::npos, entry.action);
        }
    }
    BOOST_TEST(log(acme).front().subject_id == ann.text());
}

BOOST_AUTO_TEST_SUITE_END()
