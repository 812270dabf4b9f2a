// service/access/two_factor.hpp: enrollment, single use of each code, and backup codes.
#include "service/access/two_factor.hpp"
#include "rules/audit.hpp"

#include "db/two_factor.hpp"

#include <atomic>

using namespace muster;
using test::code_of;
using test::from_base32;
using test::TwoFactor;

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
