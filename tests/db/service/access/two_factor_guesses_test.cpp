// service/access/two_factor.hpp: a limit on guesses over all sessions of an admin.
#include "rules/audit.hpp"
#include "service/access/two_factor.hpp"

#include "base/crypto.hpp"
#include "db/two_factor.hpp"

#include <algorithm>
#include <atomic>
#include <future>

using namespace muster;
using test::code_of;
using test::kDay;
using test::kHour;
using test::kMinute;
using test::TwoFactor;

BOOST_FIXTURE_TEST_SUITE(two_factor_guesses, TwoFactor)

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

BOOST_AUTO_TEST_SUITE_END()
