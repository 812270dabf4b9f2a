// service/access/sign_in.hpp: the code of a mail opens one session, guessing is limited, and the
// stored rows do not reveal which addresses are admins.
#include "service/access/sign_in.hpp"
#include "rules/access/roles.hpp"
#include "rules/audit.hpp"

#include "base/crypto.hpp"
#include "db/admins.hpp"

#include <atomic>
#include <set>

using namespace muster;
using test::AdminFixture;
using test::code_of;
using test::kDay;
using test::kHour;
using test::kMinute;

namespace {

struct SignIn : AdminFixture {
    // A wrong code, a different one for each number.
    std::string wrong(int number = 0) {
        std::string code = sent_code();
        const int digit = code.back() - '0';
        code.back() = static_cast<char>('0' + (digit + 1 + number % 9) % 10);
        return code;
    }
    // Twenty wrong guesses at once, regardless of pauses.
    void exhaust_budget() {
        for (int i = 0; i < 20; ++i) BOOST_TEST(!verify("00000000x").has_value());
    }
    std::int64_t sessions() { return client.number("SELECT COUNT(*) FROM sessions"); }
    std::optional<Error> request_error(std::string_view email = kAnn) {
        return test::error_of([&] { request(email); });
    }
    std::optional<Error> verify_error(std::string_view code, std::string_view email = kAnn) {
        return test::error_of([&] { (void)verify(code, email); });
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sign_in, SignIn)

// ---------------------------------------------------------------------------- the right code

BOOST_AUTO_TEST_CASE(the_code_of_the_mail_opens_an_unverified_session) {
    const Timestamp before = Timestamp::now();
    request();
    const auto mail = mails().at(0);
    BOOST_TEST(mail.to == kAnn);
    BOOST_TEST(mail.code.size() == 8U);
    const auto signed_in = verify(mail.code);
    BOOST_TEST_REQUIRE(signed_in.has_value());
    const auto& session = signed_in->opened.session;
    BOOST_TEST(session.admin_id == ann);
    BOOST_TEST(session.active_organization_id == acme);
    BOOST_TEST(!session.is_enrolled);
    BOOST_TEST(!session.verified_at.has_value());
    BOOST_TEST(session.expires_at - before >= 7 * kDay);
    BOOST_TEST_REQUIRE(signed_in->seats.size() == 1U);
    BOOST_TEST(signed_in->seats.front().name == "Acme");
    BOOST_TEST(signed_in->seats.front().role == rules::Role::Owner);
    const auto seen = session_of(signed_in->opened.token);
    BOOST_TEST_REQUIRE(seen.has_value());
    BOOST_TEST(seen->id == session.id);
    BOOST_TEST(!seen->verified_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_code_works_once) {
    request();
    const std::string code = sent_code();
    BOOST_TEST(verify(code).has_value());
    BOOST_TEST(!verify(code).has_value());
    BOOST_TEST(sessions() == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM otp_codes") == 0);
}

BOOST_AUTO_TEST_CASE(a_code_is_valid_for_one_address) {
    service::add_admin(context, acme, "bob@example.test", "viewer");
    request();
    const std::string code = sent_code();
    request("bob@example.test");
    BOOST_TEST(!verify(code, "bob@example.test").has_value());
    BOOST_TEST(verify(code).has_value());
}

BOOST_AUTO_TEST_CASE(a_new_code_replaces_the_previous_one) {
    request();
    const std::string first = sent_code();
    advance_time(kMinute);
    request();
    const std::string second = sent_code();
    BOOST_TEST(!verify(first).has_value());
    BOOST_TEST(verify(second).has_value());
}

BOOST_AUTO_TEST_CASE(a_code_is_valid_for_five_minutes) {
    request();
    advance_time(5 * kMinute - Milliseconds(10'000));
    BOOST_TEST(verify(sent_code()).has_value());
    request();
    advance_time(5 * kMinute);
    BOOST_TEST(!verify(sent_code()).has_value());
    BOOST_TEST(client.number("SELECT MAX(expires_at - created_at) FROM mail_outbox") ==
               (5 * kMinute).count());
}

// ---------------------------------------------------------------------------- guessing

BOOST_AUTO_TEST_CASE(a_code_allows_five_attempts) {
    request();
    for (int i = 0; i < 4; ++i) BOOST_TEST(!verify(wrong(i)).has_value());
    BOOST_TEST(verify(sent_code()).has_value());
    forget_requests();
    request();
    for (int i = 0; i < 5; ++i) BOOST_TEST(!verify(wrong(i)).has_value());
    BOOST_TEST(!verify(sent_code()).has_value());
    BOOST_TEST(sessions() == 1);
}

BOOST_AUTO_TEST_CASE(an_invalid_code_opens_no_session) {
    request();
    const std::string code = sent_code();
    for (const std::string& other : {std::string(), code.substr(1), code + "0", " " + code}) {
        BOOST_TEST(!verify(other).has_value());
    }
    BOOST_TEST(verify(code).has_value());
    BOOST_TEST(!verify("", "nobody@example.test").has_value());
}

BOOST_AUTO_TEST_CASE(twenty_failures_in_an_hour_also_block_the_right_code_of_a_new_mail) {
    exhaust_budget();
    request();
    const auto error = verify_error(sent_code());
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::RateLimited);
    BOOST_TEST(error->retry_after() > 3590);
    BOOST_TEST(error->retry_after() <= 3600);
    BOOST_TEST(sessions() == 0);
    // The block remains with another code and for most of the hour.
    advance_time(58 * kMinute);
    request();
    BOOST_TEST(verify_error(sent_code()).has_value());
    advance_time(2 * kMinute);
    BOOST_TEST(verify(sent_code()).has_value());
}

BOOST_AUTO_TEST_CASE(the_window_of_an_hour_slides_and_does_not_restart) {
    for (int i = 0; i < 10; ++i) (void)verify("x");
    advance_time(30 * kMinute);
    for (int i = 0; i < 10; ++i) (void)verify("x");
    BOOST_TEST(verify_error("x").has_value());
    advance_time(30 * kMinute);  // the first ten have left the window, the others have not
    for (int i = 0; i < 10; ++i) BOOST_TEST(!verify_error("x").has_value());
    BOOST_TEST(verify_error("x").has_value());
}

BOOST_AUTO_TEST_CASE(a_blocked_guess_costs_nothing_and_a_right_code_returns_nothing) {
    for (int i = 0; i < 19; ++i) (void)verify("x");
    request();
    BOOST_TEST(verify(sent_code()).has_value());
    BOOST_TEST(!verify("x").has_value());
    BOOST_TEST(verify_error("x").has_value());
    advance_time(kHour - kMinute);
    BOOST_TEST(verify_error("x").has_value());
    advance_time(kMinute);
    BOOST_TEST(!verify_error("x").has_value());
}

BOOST_AUTO_TEST_CASE(the_first_failure_of_each_hour_is_logged_in_the_organizations_of_the_admin) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, kAnn, "viewer");
    service::add_admin(context, acme, "bob@example.test", "viewer");
    const auto refusals = [&] {
        return client.number("SELECT COUNT(*) FROM audit_log WHERE action = 'sign_in.refused'");
    };
    // Not in the last seconds of an hour.
    const auto left = [] {
        return kHour.count() - Timestamp::now().milliseconds() % kHour.count();
    };
    BOOST_TEST(test::until([&] { return left() > 15'000; }));
    for (int i = 0; i < 20; ++i) (void)verify("x");
    BOOST_TEST(verify_error("x").has_value());
    BOOST_TEST(refusals() == 2);
    for (const OrgId organization : {acme, other}) {
        const auto entry = log(organization).front();
        BOOST_TEST(entry.action == "sign_in.refused");
        BOOST_TEST(entry.actor == rules::AuditActor::System);
        BOOST_TEST(entry.subject_id == ann.text());
        BOOST_TEST(entry.details == R"({"factor":"mail_code","request_id":"req-1"})");
    }
    advance_time(kHour);
    (void)verify("x");
    BOOST_TEST(refusals() == 4);
}

BOOST_AUTO_TEST_CASE(a_failure_for_the_address_of_a_stranger_is_not_logged) {
    const auto entries = [&] { return client.number("SELECT COUNT(*) FROM audit_log"); };
    const auto before = entries();
    (void)verify("x", "nobody@example.test");
    client.run("DELETE FROM seats");
    (void)verify("x");
    BOOST_TEST(entries() == before);
}

BOOST_AUTO_TEST_CASE(failures_of_one_address_do_not_affect_another) {
    service::add_admin(context, acme, "bob@example.test", "viewer");
    exhaust_budget();
    request("bob@example.test");
    BOOST_TEST(verify(sent_code(), "bob@example.test").has_value());
}

// ---------------------------------------------------------------------------- requesting codes

BOOST_AUTO_TEST_CASE(a_code_may_be_asked_for_once_a_minute_and_five_times_an_hour) {
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(!request_error().has_value(), i);
        const auto error = request_error();
        BOOST_TEST_REQUIRE(error.has_value(), i);
        BOOST_TEST(error->code() == ErrorCode::RateLimited);
        if (i < 4) BOOST_TEST(error->retry_after() <= 60);
        advance_time(kMinute);
    }
    const auto error = request_error();
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->retry_after() > 54 * 60);
    BOOST_TEST(error->retry_after() <= 55 * 60);
    BOOST_TEST(mails().size() == 5U);
    advance_time(55 * kMinute);
    BOOST_TEST(!request_error().has_value());
    BOOST_TEST(mails().size() == 6U);
}

BOOST_AUTO_TEST_CASE(a_rejected_request_keeps_the_previous_code_valid) {
    request();
    BOOST_TEST(request_error().has_value());
    BOOST_TEST(verify(sent_code()).has_value());
}

// --------------------------------------------------------------- addresses of admins and strangers

BOOST_AUTO_TEST_CASE(the_address_of_a_stranger_leaves_the_same_rows_as_the_address_of_an_admin) {
    const auto rows_of = [&](std::string_view email) {
        client.run("DELETE FROM otp_codes");
        client.run("DELETE FROM guess_budgets");
        client.run("DELETE FROM mail_outbox");
        request(email);
        std::vector<std::string> shape;
        for (
            const auto& cell : client.column(
                "SELECT CONCAT_WS('|', LENGTH(subject), LENGTH(code_hash), failures) FROM "
                "otp_codes UNION ALL SELECT CONCAT_WS('|', kind, LENGTH(subject), LENGTH(spent), "
                "expires_at > 0) FROM guess_budgets UNION ALL SELECT CONCAT_WS('|', LENGTH(content), "
                "attempts, expires_at - created_at) FROM mail_outbox")) {
            shape.push_back(cell);
        }
        return shape;
    };
    const auto known = rows_of(kAnn);
    BOOST_TEST(known.size() == 3U);
    for (const std::string& email :
         {std::string("x@y.test"), std::string("somebody.with.a.long.name@a.long.domain.test"),
          std::string(64, 'a') + "@" + std::string(60, 'b') + "." + std::string(60, 'c') +
              ".test"}) {
        BOOST_TEST(rows_of(email) == known, boost::test_tools::per_element());
        BOOST_TEST(mails().at(0).to == "");
    }
}

BOOST_AUTO_TEST_CASE(guesses_of_a_stranger_are_counted_and_blocked_like_those_of_an_admin) {
    const std::string_view stranger = "nobody@example.test";
    request(stranger);
    BOOST_TEST(request_error(stranger).has_value());
    const std::string code = sent_code();  // also the code of the decoy mail
    BOOST_TEST(!verify(code, stranger).has_value());
    for (int i = 0; i < 19; ++i) BOOST_TEST(!verify("x", stranger).has_value());
    BOOST_TEST(verify_error(code, stranger)->code() == ErrorCode::RateLimited);
    BOOST_TEST(sessions() == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM admins") == 1);
}

BOOST_AUTO_TEST_CASE(the_same_statements_run_for_a_stranger_as_for_an_admin) {
    const auto cost = [&](const std::function<void()>& work) {
        db::statistics() = {};
        work();
        return db::statistics().statements;
    };
    const auto of_ann = cost([&] { request(); });
    const auto of_a_stranger = cost([&] { request("nobody@example.test"); });
    BOOST_TEST(of_ann == of_a_stranger);
    BOOST_TEST(cost([&] { (void)verify("x"); }) ==
               cost([&] { (void)verify("x", "nobody@example.test"); }));
}

BOOST_AUTO_TEST_CASE(an_admin_without_a_seat_is_a_stranger) {
    client.run("DELETE FROM seats");
    request();
    BOOST_TEST(mails().at(0).to == "");
    BOOST_TEST(!verify(sent_code()).has_value());
    BOOST_TEST(sessions() == 0);
}

BOOST_AUTO_TEST_CASE(an_admin_who_loses_the_last_seat_after_the_mail_cannot_sign_in) {
    request();
    client.run("DELETE FROM seats");
    BOOST_TEST(!verify(sent_code()).has_value());
    BOOST_TEST(sessions() == 0);
}

BOOST_AUTO_TEST_CASE(addresses_codes_and_tokens_are_not_stored_in_clear_text) {
    request();
    const std::string code = sent_code();
    const auto holds = [&](const char* table, const std::string& columns, const std::string& text) {
        return client.number("SELECT COUNT(*) FROM " + std::string(table) +
                                 " WHERE LOCATE(?, CONCAT(" + columns + ")) > 0",
                             text) > 0;
    };
    for (const std::string& text : {code, std::string(kAnn), sha256(code), sha256(kAnn)}) {
        BOOST_TEST(!holds("otp_codes", "subject, code_hash", text));
        BOOST_TEST(!holds("guess_budgets", "subject, spent", text));
        BOOST_TEST(!holds("mail_outbox", "content", text));
    }
    const auto signed_in = verify(code);
    BOOST_TEST(!holds("sessions", "id, token_hash", signed_in->opened.token.reveal()));
    for (const auto& entry : log(acme)) {
        BOOST_TEST(entry.details.find("ann@") == std::string::npos);
        BOOST_TEST(entry.details.find(code) == std::string::npos);
    }
}

// ---------------------------------------------------------------------------- in parallel

BOOST_AUTO_TEST_CASE(twenty_parallel_uses_of_the_right_code_open_one_session) {
    request();
    const std::string code = sent_code();
    std::atomic<int> let_in = 0;
    test::in_parallel(20, [&](int) {
        test::DatabaseContext worker;
        if (service::verify_sign_in_code(worker.context, kAnn, code, "req-1")) ++let_in;
    });
    BOOST_TEST(let_in == 1);
    BOOST_TEST(sessions() == 1);
}

BOOST_AUTO_TEST_CASE(parallel_guesses_never_exceed_the_budget) {
    request();
    std::atomic<int> checked = 0;
    std::atomic<int> refused = 0;
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        for (int i = 0; i < 6; ++i) {
            try {
                if (!service::verify_sign_in_code(worker.context, kAnn, "x", "req-1")) ++checked;
            } catch (const Error& error) {
                if (error.code() == ErrorCode::RateLimited) ++refused;
            }
        }
    });
    BOOST_TEST(checked == 20);
    BOOST_TEST(refused == 28);
    BOOST_TEST(client.number("SELECT failures FROM otp_codes") == 20);
}

BOOST_AUTO_TEST_CASE(parallel_requests_queue_one_mail) {
    std::atomic<int> refused = 0;
    test::in_parallel(8, [&](int) {
        test::DatabaseContext worker;
        const auto code = code_of([&] { service::request_sign_in_code(worker.context, kAnn); });
        if (code == ErrorCode::RateLimited) ++refused;
    });
    BOOST_TEST(refused == 7);
    BOOST_TEST(mails().size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
