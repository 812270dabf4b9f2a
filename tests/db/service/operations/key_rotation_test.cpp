// service/operations/key_rotation.hpp: a rotation re-encrypts every sealed value with the new key
// and can be interrupted at any time.
#include "service/operations/key_rotation.hpp"
#include "rules/audit.hpp"

#include "base/crypto.hpp"
#include "db/admins.hpp"
#include "rules/seal_names.hpp"
#include "service/idempotency.hpp"
#include "service/mail.hpp"

#include <algorithm>
#include <span>

using namespace muster;
using service::Resealed;
using test::AdminFixture;
using test::kHour;

namespace {

const Secret kNext(std::string(32, 'n'));

struct Secrets : AdminFixture {
    service::IdempotencyClaim claim(const std::string& key) {
        return {sha256(key), sha256("body"), Secret(key)};
    }
    service::StoredReply show(service::Context& with, OrgId organization, const std::string& key) {
        return service::transact(
            with, {organization, {}}, claim(key), [&](service::OrgTransaction&) {
                return service::StoredReply{201, "", "secret of " + key, {}, false, true};
            });
    }
    void queue(service::Context& with, const std::string& text) {
        with.database.transaction([&](db::Tx& tx) {
            const Timestamp now = Timestamp::now();
            service::queue_mail(tx, with.keys, {std::string(kAnn), "Subject", text}, now,
                                now + kHour);
        });
    }
    // The number of queued mails that `keys` can decrypt.
    std::int64_t readable_mails(const KeyRing& keys) {
        std::int64_t count = 0;
        for (auto rows = client.query("SELECT id, content FROM mail_outbox"); rows.next();) {
            count += keys.open(rows.bytes(2), "mail:" + rows.id<MailId>(1).text()) ? 1 : 0;
        }
        return count;
    }
    // The counts of the first three tables. The others have their own tests.
    static std::vector<std::int64_t> figures(const std::vector<Resealed>& counts) {
        std::vector<std::int64_t> all;
        for (const auto& count : std::span(counts).first(3)) {
            all.insert(all.end(), {count.resealed, count.current, count.unreadable});
        }
        return all;
    }
    using Figures = std::vector<std::int64_t>;

    // The installation during the rotation of its key, and afterwards.
    service::Context rotating{database, test::settings(),
                              KeyRing(kNext, test::settings().security.key)};
    service::Context after{database, test::settings(), KeyRing(kNext)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secrets, Secrets)

BOOST_AUTO_TEST_CASE(a_rotation_without_sealed_values_does_nothing) {
    const auto counts = service::rotate_secrets(rotating);
    BOOST_TEST_REQUIRE(counts.size() >= 3U);
    BOOST_TEST(counts[0].what == "second factors");
    BOOST_TEST(counts[1].what == "waiting mails");
    BOOST_TEST(counts[2].what == "recorded replies");
    for (const auto& count : counts) {
        BOOST_TEST(count.resealed + count.current + count.unreadable == 0, count.what);
    }
    BOOST_TEST(figures(counts) == Figures(9, 0));
}

BOOST_AUTO_TEST_CASE(after_a_rotation_every_sealed_value_opens_under_the_new_key_alone) {
    const auto opened = sign_in();  // queues one mail
    const auto made = service::enable_two_factor(context, opened.session);
    queue(context, "hello");
    const OrgId other = organization("Other");
    show(context, acme, "one");
    show(context, other, "two");
    service::transact(context, {acme, {}}, claim("plain"), [](service::OrgTransaction&) {
        return service::StoredReply{200, "", "plain", {}};
    });

    BOOST_TEST(figures(service::rotate_secrets(rotating)) == (Figures{1, 0, 0, 2, 0, 0, 2, 0, 0}));

    const std::string row = client.value("SELECT totp_secret FROM admins");
    const auto secret = after.keys.open(row, "totp:" + std::string(ann.bytes()));
    BOOST_TEST_REQUIRE(secret.has_value());
    BOOST_TEST(to_base32(secret->reveal()) == made.secret.reveal());
    BOOST_TEST(!context.keys.open(row, "totp:" + std::string(ann.bytes())).has_value());
    BOOST_TEST(readable_mails(after.keys) == 2);
    BOOST_TEST(readable_mails(context.keys) == 0);
    BOOST_TEST(show(after, acme, "one").body == "secret of one");
    BOOST_TEST(show(after, other, "two").body == "secret of two");
    BOOST_TEST(
        (test::code_of([&] { show(context, acme, "one"); }) == ErrorCode::IdempotencyConflict));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys WHERE body = 'plain'") == 1);

    BOOST_TEST(figures(service::rotate_secrets(rotating)) == (Figures{0, 1, 0, 0, 2, 0, 0, 2, 0}));
    BOOST_TEST(figures(service::rotate_secrets(after)) == (Figures{0, 1, 0, 0, 2, 0, 0, 2, 0}));
}

BOOST_AUTO_TEST_CASE(values_that_no_key_opens_are_counted_and_not_changed) {
    const auto opened = sign_in();
    (void)service::enable_two_factor(context, opened.session);
    show(context, acme, "one");
    client.run("UPDATE admins SET totp_secret = 'nonsense'");
    client.run("UPDATE mail_outbox SET content = CONCAT(content, 'x')");
    show(context, acme, "two");
    client.execute("UPDATE idempotency_keys SET body = '' WHERE key_hash = ?", sha256("two"));
    BOOST_TEST(figures(service::rotate_secrets(rotating)) == (Figures{0, 0, 1, 0, 0, 1, 1, 0, 1}));
    BOOST_TEST(client.value("SELECT totp_secret FROM admins") == "nonsense");
    BOOST_TEST(show(after, acme, "one").body == "secret of one");
    // Without the previous key the rotation changes nothing.
    show(context, acme, "three");
    const auto before = client.snapshot(acme);
    BOOST_TEST(figures(service::rotate_secrets(after)) == (Figures{0, 0, 1, 0, 0, 1, 0, 1, 2}));
    BOOST_TEST(client.snapshot(acme)["idempotency_keys"] == before.at("idempotency_keys"));
}

BOOST_AUTO_TEST_CASE(rows_of_several_organizations_are_re_encrypted_page_by_page_once) {
    const OrgId other = organization("Other");
    for (int i = 0; i < 130; ++i) {
        show(context, i % 2 ? acme : other, "key " + std::to_string(i));
        queue(context, std::to_string(i));
    }
    BOOST_TEST(
        (figures(service::rotate_secrets(rotating)) == Figures{0, 0, 0, 130, 0, 0, 130, 0, 0}));
    BOOST_TEST(readable_mails(after.keys) == 130);
    for (int i = 0; i < 130; ++i) {
        const std::string key = "key " + std::to_string(i);
        BOOST_TEST(show(after, i % 2 ? acme : other, key).body == "secret of " + key);
    }
}

BOOST_AUTO_TEST_CASE(an_interrupted_rotation_continues_in_the_next_run) {
    for (int i = 0; i < 250; ++i) queue(context, std::to_string(i));
    show(context, acme, "one");
    {
        // The third page of the mails contains a row that cannot be written.
        const test::SchemaChange broken(
            client,
            "CREATE TRIGGER break_off BEFORE UPDATE ON mail_outbox FOR EACH ROW IF (SELECT COUNT(*) "
            "FROM mail_outbox m WHERE m.id < NEW.id) = 220 THEN SIGNAL SQLSTATE '45000'; END IF",
            "DROP TRIGGER break_off");
        BOOST_CHECK_THROW(service::rotate_secrets(rotating), db::DbError);
    }
    BOOST_TEST(readable_mails(after.keys) == 200);
    BOOST_TEST(readable_mails(rotating.keys) == 250);
    BOOST_TEST(
        (figures(service::rotate_secrets(rotating)) == Figures{0, 0, 0, 50, 200, 0, 1, 0, 0}));
    BOOST_TEST(readable_mails(after.keys) == 250);
}

BOOST_AUTO_TEST_CASE(a_connection_lost_during_a_rotation_counts_no_row_twice) {
    for (int i = 0; i < 3; ++i) queue(context, std::to_string(i));
    db::Database own(test::connection_settings());
    service::Context with{own, test::settings(), rotating.keys};
    client.kill(own.autocommit(test::session_of));
    BOOST_TEST(figures(service::rotate_secrets(with)) == (Figures{0, 0, 0, 3, 0, 0, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(requests_continue_while_secrets_are_rotated) {
    const auto opened = sign_in();
    const auto made = service::enable_two_factor(context, opened.session);
    service::rotate_secrets(rotating);
    const std::string row = client.value("SELECT totp_secret FROM admins");
    const auto secret = rotating.keys.open(row, "totp:" + std::string(ann.bytes()));
    const std::string code = rules::totp_code(*secret, rules::totp_step(Timestamp::now())).reveal();
    BOOST_TEST(service::verify_totp(after, {session_of(opened.token).value(), code, "r"}).is_right);
    BOOST_TEST(made.backup_codes.size() == 10U);
}

BOOST_AUTO_TEST_CASE(tokens_and_verifiers_remain_bound_to_their_connection_under_the_new_key) {
    const auto id = ConnectionId::create();
    client.execute(
        "INSERT INTO connections (organization_id, id, provider, name, host, status, tokens, "
        "details, created_at, updated_at) VALUES (?, ?, 'slack', 'n', '', 'connected', ?, '{}', 1, "
        "1)",
        acme, id, context.keys.seal("tokens", rules::connection_seal_name(acme, id)));
    client.execute(
        "INSERT INTO connection_authorizations (organization_id, connection_id, state_hash, "
        "session_id, verifier, redirect_uri, expires_at) VALUES (?, ?, ?, ?, ?, 'u', 1)",
        acme, id, sha256("state"), SessionId::create(),
        context.keys.seal("verifier", rules::authorization_seal_name(acme, id)));
    const auto counts = service::rotate_secrets(rotating);
    for (const std::string_view what : {"connection tokens", "connection verifiers"}) {
        const auto count = std::find_if(counts.begin(), counts.end(),
                                        [&](const Resealed& one) { return one.what == what; });
        BOOST_TEST_REQUIRE((count != counts.end()), what);
        BOOST_TEST(count->resealed == 1, what);
        BOOST_TEST(count->unreadable == 0, what);
    }
    const auto tokens = after.keys.open(client.value("SELECT tokens FROM connections"),
                                        rules::connection_seal_name(acme, id));
    BOOST_TEST_REQUIRE(tokens.has_value());
    BOOST_TEST(tokens->reveal() == "tokens");
    const auto verifier =
        after.keys.open(client.value("SELECT verifier FROM connection_authorizations"),
                        rules::authorization_seal_name(acme, id));
    BOOST_TEST_REQUIRE(verifier.has_value());
    BOOST_TEST(verifier->reveal() == "verifier");
}

BOOST_AUTO_TEST_CASE(a_rotation_is_logged_only_in_the_log_of_the_installation) {
    queue(context, "a");
    queue(context, "b");
    const auto before = log(acme).size();
    service::rotate_secrets(rotating);
    const auto entries = service::newest_audit_entries(context, {}, "secrets.rotated", 10);
    BOOST_TEST_REQUIRE(entries.size() == 1U);
    BOOST_TEST(entries[0].actor == rules::AuditActor::Operator);
    BOOST_TEST(!entries[0].organization_id.has_value());
    BOOST_TEST(!entries[0].actor_id.has_value());
    BOOST_TEST(entries[0].details == R"({"resealed":"2"})");
    BOOST_TEST(log(acme).size() == before);
}

BOOST_AUTO_TEST_SUITE_END()
