// service/access/two_factor.hpp: an admin replaces their own backup codes and authenticator. Each
// needs a current code, and is mailed and logged.
#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "db/admins.hpp"
#include "rules/access/totp.hpp"
#include "service/access/notices.hpp"
#include "service/access/two_factor.hpp"
#include "service/operations/key_rotation.hpp"
#include "service/organization/status.hpp"

#include <algorithm>
#include <future>
#include <map>

using namespace muster;
using service::Enrollment;
using test::AdminFixture;
using test::code_of;
using test::kDay;
using test::kMinute;

namespace {

// An enrolled admin with a verified session. Each code is of a step that was not used.
struct OwnFactor : AdminFixture {
    OwnFactor() {
        made = service::enable_two_factor(context, session());
        BOOST_TEST_REQUIRE(service::verify_totp(context, attempt(code())).is_right);
        forget_last_step();
        client.run("DELETE FROM mail_outbox");
    }

    rules::Session session() { return session_of(opened.token).value(); }
    service::FactorAttempt attempt(std::string_view digits) {
        current = session();
        return {current, digits, "r"};
    }
    static std::string code_from(const Secret& base32, int shift = 0) {
        const Secret secret(std::string(from_base32_text(base32.reveal())));
        return rules::totp_code(secret, rules::totp_step(Timestamp::now()) + shift).reveal();
    }
    std::string code() { return code_from(made.secret); }
    std::string wrong_code() {
        std::string guess = "000000";
        const auto is_near = [&] {
            for (int shift = -2; shift <= 2; ++shift) {
                if (code_from(made.secret, shift) == guess) return true;
            }
            return false;
        };
        while (is_near()) ++guess.back();
        return guess;
    }
    static std::string from_base32_text(std::string_view text) {
        std::string bytes;
        unsigned value = 0;
        int bits = 0;
        for (const char c : text) {
            value = value << 5U | static_cast<unsigned>(c >= 'A' ? c - 'A' : c - '2' + 26);
            bits += 5;
            if (bits < 8) continue;
            bits -= 8;
            bytes += static_cast<char>(value >> static_cast<unsigned>(bits) & 0xffU);
        }
        return bytes;
    }
    void forget_last_step() { client.run("UPDATE admins SET totp_last_step = 0"); }
    std::vector<Secret> new_codes(std::string_view typed) {
        return service::replace_backup_codes(context, attempt(typed));
    }
    std::optional<service::NextAuthenticator> replace(std::string_view typed) {
        return service::replace_authenticator(context, attempt(typed));
    }
    bool confirm(std::string_view typed) {
        return service::confirm_authenticator(context, attempt(typed));
    }
    bool verifies(std::string_view digits) {
        const bool is_right = service::verify_totp(context, attempt(digits)).is_right;
        forget_last_step();
        return is_right;
    }
    bool is_logged(std::string_view action) {
        const auto all = actions(acme);
        return std::count(all.begin(), all.end(), action) == 1;
    }

    service::NewSession opened = sign_in();
    rules::Session current;
    Enrollment made;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(own_factor, OwnFactor)

BOOST_AUTO_TEST_CASE(new_backup_codes_replace_the_old_ones) {
    BOOST_TEST(service::count_backup_codes(context, ann) == 10);
    const auto codes = new_codes(code());
    BOOST_TEST_REQUIRE(codes.size() == 10U);
    BOOST_TEST(service::count_backup_codes(context, ann) == 10);
    BOOST_TEST(
        !service::verify_backup_code(context, attempt(made.backup_codes[0].reveal())).is_right);
    BOOST_TEST(service::verify_backup_code(context, attempt(codes[0].reveal())).is_right);
    BOOST_TEST(service::count_backup_codes(context, ann) == 9);
    BOOST_TEST(is_logged("backup_codes.replaced"));
}

// Each change writes to the audit log of every organization of the admin.
BOOST_AUTO_TEST_CASE(an_admin_changes_the_factor_at_most_ten_times_a_day) {
    auto codes = new_codes(made.backup_codes[0].reveal());
    for (int i = 1; i < 10; ++i) codes = new_codes(codes.at(0).reveal());
    const auto entries = actions(acme).size();
    BOOST_TEST(code_of([&] { (void)new_codes(codes.at(0).reveal()); }) == ErrorCode::RateLimited);
    BOOST_TEST(actions(acme).size() == entries);
    BOOST_TEST(code_of([&] { (void)replace(codes.at(0).reveal()); }) == ErrorCode::RateLimited);
    BOOST_TEST(service::verify_backup_code(context, attempt(codes.at(1).reveal())).is_right);
    database.transaction([&](db::Tx& tx) {  // as a reset of the second factor does
        service::forget_factor_changes(tx, ann, Timestamp::now());
    });
    BOOST_TEST(new_codes(codes.at(2).reveal()).size() == 10U);
}

BOOST_AUTO_TEST_CASE(a_backup_code_may_take_the_place_of_the_authenticators_code) {
    BOOST_TEST(new_codes(made.backup_codes[3].reveal()).size() == 10U);
    BOOST_TEST(new_codes(made.backup_codes[4].reveal()).empty());  // replaced
    BOOST_TEST(new_codes(code()).size() == 10U);
}

BOOST_AUTO_TEST_CASE(an_admin_of_a_disabled_organization_sees_what_is_replaced) {
    BOOST_TEST(service::disable_organization(context, acme));
    const auto codes = new_codes(code());
    BOOST_TEST(codes.size() == 10U);
    forget_last_step();
    const auto next = replace(code());
    BOOST_TEST_REQUIRE(next.has_value());
    BOOST_TEST(confirm(code_from(next->secret)));
    BOOST_TEST(service::enable_organization(context, acme));
    BOOST_TEST(service::verify_backup_code(context, attempt(codes[0].reveal())).is_right);
    forget_last_step();
    BOOST_TEST(verifies(code_from(next->secret)));
}

BOOST_AUTO_TEST_CASE(a_wrong_or_used_code_changes_nothing_and_counts_towards_the_pause) {
    const auto used = code();
    BOOST_TEST(verifies(used));
    client.run("UPDATE admins SET totp_last_step = 99999999999");
    BOOST_TEST(new_codes(used).empty());
    BOOST_TEST(!replace(used).has_value());
    forget_last_step();
    BOOST_TEST(new_codes("aaaa-bbbb-cccc-dddd-eeee-ffff").empty());
    BOOST_TEST(!replace(wrong_code()).has_value());
    BOOST_TEST(new_codes(wrong_code()).empty());
    BOOST_TEST(code_of([&] { (void)new_codes(code()); }) == ErrorCode::RateLimited);
    BOOST_TEST(code_of([&] { (void)replace(code()); }) == ErrorCode::RateLimited);
    BOOST_TEST(code_of([&] { (void)confirm(code()); }) == ErrorCode::RateLimited);
    advance_time(15 * kMinute);
    BOOST_TEST(
        service::verify_backup_code(context, attempt(made.backup_codes[0].reveal())).is_right);
    BOOST_TEST(!is_logged("backup_codes.replaced"));
}

BOOST_AUTO_TEST_CASE(another_authenticator_replaces_the_first_one_when_it_is_confirmed) {
    const auto next = replace(code());
    BOOST_TEST_REQUIRE(next.has_value());
    forget_last_step();
    BOOST_TEST(verifies(code()));  // the first one is still valid
    BOOST_TEST(!verifies(code_from(next->secret)));
    BOOST_TEST(!confirm(code()));
    BOOST_TEST(confirm(code_from(next->secret)));
    BOOST_TEST(is_logged("second_factor.replaced"));
    BOOST_TEST(!service::verify_totp(context, attempt(code_from(next->secret))).is_right);  // used
    forget_last_step();
    BOOST_TEST(verifies(code_from(next->secret)));
    BOOST_TEST(!verifies(code()));
    BOOST_TEST(service::count_backup_codes(context, ann) == 10);  // they stay
    BOOST_TEST(session_of(opened.token)->verified_at.has_value());
    BOOST_TEST(code_of([&] { (void)confirm(code_from(next->secret)); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(a_replacement_belongs_to_its_session_and_lasts_15_minutes) {
    BOOST_TEST(code_of([&] { (void)confirm(code()); }) == ErrorCode::InvalidState);
    const auto first = replace(code());
    forget_last_step();
    const auto second = replace(code());
    BOOST_TEST_REQUIRE((first && second));
    BOOST_TEST(!confirm(code_from(first->secret)));
    const auto other = sign_in();
    BOOST_TEST(service::verify_backup_code(
                   context, {session_of(other.token).value(), made.backup_codes[0].reveal(), "r"})
                   .is_right);
    const auto other_session = session_of(other.token).value();
    const auto digits = code_from(second->secret);
    BOOST_TEST(code_of([&] {
                   service::confirm_authenticator(context, {other_session, digits, "r"});
               }) == ErrorCode::InvalidState);
    client.run("UPDATE sessions SET next_totp_at = next_totp_at - 901000");
    BOOST_TEST(code_of([&] { (void)confirm(digits); }) == ErrorCode::InvalidState);
    client.run("UPDATE sessions SET next_totp_at = next_totp_at + 10000");
    BOOST_TEST(confirm(digits));
}

BOOST_AUTO_TEST_CASE(another_code_of_the_session_does_not_prolong_a_replacement) {
    const auto next = replace(code());
    BOOST_TEST_REQUIRE(next.has_value());
    forget_last_step();
    client.run("UPDATE sessions SET next_totp_at = next_totp_at - 901000");
    BOOST_TEST(verifies(code()));
    const auto digits = code_from(next->secret);
    BOOST_TEST(code_of([&] { (void)confirm(digits); }) == ErrorCode::InvalidState);
}

BOOST_AUTO_TEST_CASE(the_secret_of_the_next_authenticator_is_stored_sealed_for_its_session) {
    const auto next = replace(code());
    BOOST_TEST_REQUIRE(next.has_value());
    const std::string raw = from_base32_text(next->secret.reveal());
    const std::string row = client.value("SELECT next_totp_secret FROM sessions");
    BOOST_TEST(row.find(raw) == std::string::npos);
    const auto name = [](SessionId id) { return "next totp:" + std::string(id.bytes()); };
    BOOST_TEST((context.keys.open(row, name(session().id))->reveal() == raw));
    BOOST_TEST(!context.keys.open(row, name(SessionId::create())));
    BOOST_TEST(next->uri.reveal().find(next->secret.reveal()) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_replacement_survives_a_rotation_of_the_installations_key) {
    const auto next = replace(code());
    BOOST_TEST_REQUIRE(next.has_value());
    const Secret key(std::string(32, 'n'));
    service::Context rotating{database, test::settings(),
                              KeyRing(key, test::settings().security.key)};
    (void)service::rotate_secrets(rotating);
    service::Context after{database, test::settings(), KeyRing(key)};
    const auto digits = code_from(next->secret);
    BOOST_TEST(service::confirm_authenticator(after, attempt(digits)));
}

BOOST_AUTO_TEST_CASE(each_change_is_mailed_to_the_admin_and_the_owners) {
    const OrgId other = organization("Other");
    service::add_admin(context, other, "owner@other.test", "owner");
    service::add_admin(context, other, kAnn, "viewer");
    client.run("DELETE FROM mail_outbox");
    (void)new_codes(code());
    const auto sent = mails();
    BOOST_TEST_REQUIRE(sent.size() == 2U);
    BOOST_TEST(sent[0].to == kAnn);
    BOOST_TEST(sent[1].to == "owner@other.test");
    BOOST_TEST(sent[0].subject == "Muster: new backup codes of an admin");
    BOOST_TEST(sent[0].text.find(kAnn) != std::string::npos);
    client.run("DELETE FROM mail_outbox");
    forget_last_step();
    const auto next = replace(code());
    BOOST_TEST(mails().empty());
    BOOST_TEST_REQUIRE(next.has_value());
    BOOST_TEST(confirm(code_from(next->secret)));
    BOOST_TEST(mails().front().subject == "Muster: new authenticator of an admin");
    for (int i = 0; i < 8; ++i) {
        forget_last_step();
        BOOST_TEST(new_codes(code_from(next->secret)).size() == 10U);
    }
    BOOST_TEST(client.number("SELECT COUNT(*) FROM mail_outbox") == 2 * 9);
}

BOOST_AUTO_TEST_CASE(a_change_is_mailed_to_equally_many_owners_of_each_organization) {
    const OrgId other = organization("Other");
    for (int i = 0; i < 12; ++i) {
        const std::string name = "owner" + std::to_string(10 + i);
        service::add_admin(context, acme, name + "@acme.test", "owner");
        service::add_admin(context, other, name + "@other.test", "owner");
    }
    service::add_admin(context, other, kAnn, "viewer");
    service::add_admin(context, organization("Third"), kAnn, "owner");
    client.run("DELETE FROM mail_outbox");
    client.run("DELETE FROM guess_budgets");
    BOOST_TEST(new_codes(code()).size() == 10U);
    std::map<std::string, int> counts;  // by domain
    for (const auto& mail : mails()) ++counts[mail.to.substr(mail.to.find('@'))];
    BOOST_TEST(counts.size() == 3U);
    BOOST_TEST(counts["@example.test"] == 1);  // the admin
    BOOST_TEST(counts["@acme.test"] == 6);     // 20 divided by three organizations
    BOOST_TEST(counts["@other.test"] == 6);
}

BOOST_AUTO_TEST_CASE(mails_about_pauses_do_not_use_up_those_about_changes) {
    for (int pause = 0; pause < 3; ++pause) {
        for (int i = 0; i < 5; ++i) (void)service::verify_totp(context, attempt(wrong_code()));
        advance_time(60 * kMinute);
        BOOST_TEST(verifies(code()));
    }
    client.run("DELETE FROM mail_outbox");
    BOOST_TEST(new_codes(code()).size() == 10U);
    BOOST_TEST(mails().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_pause_locks_the_organizations_of_the_admin_in_the_order_of_their_ids) {
    const OrgId second = organization("Second");
    service::add_admin(context, second, kAnn, "owner");
    client.execute("UPDATE seats SET created_at = IF(organization_id = ?, 1, 2)", second);
    for (int i = 0; i < 4; ++i) (void)service::verify_totp(context, attempt(wrong_code()));
    const auto lock_budget = [](test::Client& by, const OrgId& organization) {
        return by.column(
            "SELECT 1 FROM guess_budgets WHERE kind = 'security_notice' "
            "AND subject = ? FOR UPDATE SKIP LOCKED",
            sha256(organization.bytes()));
    };
    for (const OrgId& organization : {acme, second}) {
        client.execute(
            "INSERT INTO guess_budgets (kind, subject, spent, expires_at) "
            "VALUES ('security_notice', ?, '', 9999999999999)",
            sha256(organization.bytes()));
    }
    test::Client other;
    other.run("START TRANSACTION");
    BOOST_TEST_REQUIRE(lock_budget(other, second).size() == 1U);
    const auto fifth_attempt = session();
    const auto digits = wrong_code();
    auto fifth = std::async(std::launch::async, [&] {
        test::DatabaseContext worker;
        return service::verify_totp(worker.context, {fifth_attempt, digits, "req-2"}).is_right;
    });
    BOOST_TEST(test::until([&] { return client.has_lock_wait(); }));
    BOOST_TEST(lock_budget(client, acme).empty());
    other.run("ROLLBACK");
    BOOST_TEST(!fifth.get());
    std::vector<std::string> logged;
    for (auto rows = client.query("SELECT organization_id FROM audit_log "
                                  "WHERE action = 'second_factor.paused' ORDER BY id");
         rows.next();) {
        logged.push_back(rows.id<OrgId>(1).text());
    }
    BOOST_TEST(logged == (std::vector{acme.text(), second.text()}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
