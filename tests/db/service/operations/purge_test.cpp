// service/operations/purge.hpp: rows are kept for exactly their retention.
#include "service/operations/purge.hpp"

#include "base/crypto.hpp"
#include "db/imports.hpp"
#include "service/idempotency.hpp"
#include "service/operations/monitoring.hpp"
#include "store/operations/purge.hpp"

using namespace muster;
using test::ImportFixture;
using test::people;

namespace {

struct Purge : ImportFixture {
    void expire(ImportId id, Timestamp when) {
        client.execute("UPDATE import_jobs SET expires_at = ? WHERE id = ?", when, id);
    }
    std::int64_t jobs() { return client.number("SELECT COUNT(*) FROM import_jobs"); }
    std::int64_t blocks() { return client.number("SELECT COUNT(*) FROM import_blocks"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(purge, Purge)

BOOST_AUTO_TEST_CASE(a_job_is_purged_with_its_rows_exactly_at_its_expiry) {
    const ImportId kept = completed(people(1, 10));
    const ImportId gone = completed(people(11, 10));
    expire(kept, Timestamp::now() + Milliseconds(60'000));
    const auto members_before = members();
    BOOST_TEST(!service::purge_step(context).any());
    expire(gone, Timestamp::now());
    const auto purged = service::purge_step(context);
    BOOST_TEST(purged["imports"] == 1);
    BOOST_TEST(purged["blocks"] == 1);
    BOOST_TEST(service::read_import(context, acme, kept).has_value());
    BOOST_TEST(!service::read_import(context, acme, gone).has_value());
    BOOST_TEST(jobs() == 1);
    BOOST_TEST(blocks() == 1);
    BOOST_TEST(members() == members_before);
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_CASE(the_stored_expiry_is_exact) {
    // The store distinguishes two times that differ by one millisecond.
    const ImportId id = completed(people(1, 1));
    const Timestamp when{1'900'000'000'000};
    expire(id, when);
    const auto found = [&](Timestamp now) {
        return database
            .autocommit([&](db::Tx& tx) { return store::find_expired_imports(tx, now, 9); })
            .size();
    };
    BOOST_TEST(found(when - Milliseconds(1)) == 0);
    BOOST_TEST(found(when) == 1);
    BOOST_TEST(found(when + Milliseconds(1)) == 1);
}

BOOST_AUTO_TEST_CASE(a_job_is_purged_in_any_state) {
    for (const char* state :
         {"staging", "validating", "validated", "committing", "completed", "failed", "canceled"}) {
        const ImportId id = staged(people(1, 3));
        client.execute("UPDATE import_jobs SET state = ?", state);
        expire(id, Timestamp::now());
        BOOST_TEST(service::purge_step(context)["imports"] == 1, state);
        BOOST_TEST(jobs() == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_large_job_is_purged_in_steps_and_its_record_last) {
    const ImportId id = staged(people(1, 250, 500));
    expire(id, Timestamp::now());
    int steps = 0;
    std::int64_t purged_blocks = 0;
    while (true) {
        const auto purged = service::purge_step(context);
        if (!purged.any()) break;
        ++steps;
        purged_blocks += purged["blocks"];
        BOOST_TEST(jobs() == (blocks() > 0 || purged["imports"] == 0 ? 1 : 0));
    }
    BOOST_TEST(steps == 3);
    BOOST_TEST(purged_blocks == 250);
    BOOST_TEST(jobs() == 0);
}

BOOST_AUTO_TEST_CASE(a_job_with_exactly_the_blocks_of_one_step_is_purged_completely) {
    expire(staged(people(1, 100, 500)), Timestamp::now());
    while (service::purge_step(context).any()) continue;
    BOOST_TEST(jobs() == 0);
    BOOST_TEST(blocks() == 0);
}

BOOST_AUTO_TEST_CASE(many_jobs_are_purged_a_few_at_a_time) {
    for (int i = 0; i < 45; ++i) {
        const ImportId id = staged(people(1, 1));
        cancel(id);
        expire(id, Timestamp(1 + i));
    }
    BOOST_TEST(service::purge_step(context)["imports"] == 20);
    BOOST_TEST(service::purge_step(context)["imports"] == 20);
    BOOST_TEST(service::purge_step(context)["imports"] == 5);
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_CASE(recorded_replies_are_purged_at_their_expiry) {
    const auto record = [&](const std::string& key, Timestamp until) {
        service::transact(context, {acme, {}},
                          service::IdempotencyClaim{sha256(key), sha256(""), Secret(key)},
                          [&](service::OrgTransaction&) {
                              return service::StoredReply{200, "", "", until};
                          });
    };
    record("gone", Timestamp::now());
    record("kept", Timestamp::now() + Milliseconds(60'000));
    BOOST_TEST(service::purge_step(context)["idempotency_keys"] == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys") == 1);
}

BOOST_AUTO_TEST_CASE(two_purges_in_parallel_are_harmless) {
    for (int i = 0; i < 20; ++i) {
        const ImportId id = staged(people(1, 20, 500));
        cancel(id);
        expire(id, Timestamp(1));
    }
    test::in_parallel(4, [](int) {
        test::DatabaseContext worker;
        while (service::purge_step(worker.context).any()) continue;
    });
    BOOST_TEST(jobs() == 0);
    BOOST_TEST(blocks() == 0);
}

// --------------------------------------------------------------------------- tables purged by time

namespace {

constexpr std::int64_t kDay = 24L * 3600 * 1000;
const Timestamp kWhen{1'790'000'000'000};

// A table, how to insert a row, and how long the row is kept.
struct Expiring {
    const char* table;
    std::int64_t (*purge)(db::Tx&, Timestamp, int);
    const char* name;    // in Purged
    std::int64_t stays;  // milliseconds of retention after `when`
    void (*put)(Purge& at, Timestamp when);
};

void put_session(Purge& at, Timestamp when) {
    const Uuid id = Uuid::v7();
    const AdminId admin = AdminId::create();
    at.client.execute("INSERT INTO admins (id, email, created_at) VALUES (?, HEX(?), 1)", admin,
                      id);
    at.client.execute(
        "INSERT INTO sessions (id, token_hash, admin_id, active_organization_id, created_at, "
        "last_used_at, expires_at) VALUES (?, UNHEX(SHA2(?, 256)), ?, ?, 1, 1, ?)",
        id, id, admin, at.acme, when);
}

void put_mail(Purge& at, Timestamp when) {
    at.client.execute(
        "INSERT INTO mail_outbox (id, content, next_attempt_at, created_at, expires_at) "
        "VALUES (?, 'x', ?, 1, ?)",
        Uuid::v7(), when, when);
}

void put_revoked_key(Purge& at, Timestamp when) {
    const Uuid id = Uuid::v7();
    at.client.execute(
        "INSERT INTO api_keys (organization_id, id, name, secret_hash, last_four, created_at, "
        "revoked_at) VALUES (?, ?, 'n', UNHEX(SHA2(?, 256)), 'abcd', 1, ?)",
        at.acme, id, id, when);
}

void put_revoked_credential(Purge& at, Timestamp when) {
    const Uuid id = Uuid::v7();
    const test::SchemaChange alone(
        at.client, "SET FOREIGN_KEY_CHECKS = 0",
        "SET FOREIGN_KEY_CHECKS = 1");  // its installation need not exist
    at.client.execute(
        "INSERT INTO module_credentials (organization_id, id, installation_id, name, secret_hash, "
        "last_four, signing_secret, created_at, revoked_at) "
        "VALUES (?, ?, ?, 'n', UNHEX(SHA2(?, 256)), 'abcd', 'sealed', 1, ?)",
        at.acme, id, id, id, when);
}

void put_revoked_publishable_key(Purge& at, Timestamp when) {
    const Uuid id = Uuid::v7();
    at.client.execute(
        "INSERT INTO publishable_keys (organization_id, id, kind, name, token, allowed_origins, "
        "created_at, revoked_at) VALUES (?, ?, 'content', 'n', ?, 'https://a.example', 1, ?)",
        at.acme, id, id, when);
}

void put_audit_entry(Purge& at, Timestamp when) {
    // The id contains the time too.
    std::string id(16, '\0');
    std::int64_t time = when.milliseconds();
    for (int i = 5; i >= 0; --i, time >>= 8)
        id[static_cast<std::size_t>(i)] = static_cast<char>(time);
    random_bytes(id.data() + 6, 10);
    at.client.execute(
        "INSERT INTO audit_log (organization_id, id, actor, action, details, created_at) "
        "VALUES (?, ?, 'operator', 'a.b', '{}', ?)",
        at.acme, id, when);
}

const std::vector<Expiring> kExpiring = {
    {"otp_codes", store::purge_otp_codes, "otp_codes", 0,
     [](Purge& at, Timestamp when) {
         at.client.execute(
             "INSERT INTO otp_codes (subject, code_hash, expires_at) VALUES (UNHEX(SHA2(?, 256)), "
             "UNHEX(SHA2('x', 256)), ?)",
             Uuid::v7(), when);
     }},
    {"guess_budgets", store::purge_guess_budgets, "guess_budgets", 0,
     [](Purge& at, Timestamp when) {
         at.client.execute(
             "INSERT INTO guess_budgets (kind, subject, spent, expires_at) VALUES ('otp_verify', "
             "UNHEX(SHA2(?, 256)), '', ?)",
             Uuid::v7(), when);
     }},
    {"sessions", store::purge_sessions, "sessions", 0, put_session},
    {"mail_outbox", store::purge_mails, "mails", 0, put_mail},
    {"api_keys", store::purge_ended_api_keys, "api_keys", 30 * kDay, put_revoked_key},
    {"module_credentials", store::purge_revoked_module_credentials, "module_credentials", 30 * kDay,
     put_revoked_credential},
    {"publishable_keys", store::purge_revoked_publishable_keys, "publishable_keys", 30 * kDay,
     put_revoked_publishable_key},
    {"audit_log", store::purge_audit_log, "audit_entries", 400 * kDay, put_audit_entry},
};

}  // namespace

BOOST_AUTO_TEST_CASE(rows_are_purged_exactly_at_their_millisecond) {
    for (const Expiring& kind : kExpiring) {
        client.run("DELETE FROM " + std::string(kind.table));
        kind.put(*this, kWhen);
        kind.put(*this, kWhen + Milliseconds(1));
        const auto gone = [&](Timestamp until) {
            return database.transaction([&](db::Tx& tx) { return kind.purge(tx, until, 9); });
        };
        BOOST_TEST(gone(kWhen - Milliseconds(1)) == 0, kind.table);
        BOOST_TEST(gone(kWhen) == 1, kind.table);
        BOOST_TEST(gone(kWhen) == 0, kind.table);
        BOOST_TEST(gone(kWhen + Milliseconds(1)) == 1, kind.table);
    }
}

BOOST_AUTO_TEST_CASE(each_kind_is_kept_for_its_documented_retention) {
    for (const Expiring& kind : kExpiring) {
        client.run("DELETE FROM " + std::string(kind.table));
        const Timestamp edge = Timestamp::now() - Milliseconds(kind.stays);
        kind.put(*this, edge);
        kind.put(*this, edge + Milliseconds(60'000));
        const auto purged = service::purge_step(context);
        BOOST_TEST(purged[kind.name] == 1, kind.table);
        BOOST_TEST(!service::purge_step(context).any(), kind.table);
        BOOST_TEST(client.number("SELECT COUNT(*) FROM " + std::string(kind.table)) == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_step_is_limited_per_table) {
    for (int i = 0; i < 1001; ++i) kExpiring.at(0).put(*this, Timestamp(1 + i));
    BOOST_TEST(service::purge_step(context)["otp_codes"] == 1000);
    BOOST_TEST(service::purge_step(context)["otp_codes"] == 1);
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_CASE(a_key_that_was_not_revoked_is_kept_at_any_age) {
    put_revoked_key(*this, Timestamp(1));
    client.run("UPDATE api_keys SET revoked_at = NULL");
    BOOST_TEST(!service::purge_step(context).any());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM api_keys") == 1);
}

BOOST_AUTO_TEST_CASE(a_mail_that_is_being_sent_is_kept) {
    put_mail(*this, Timestamp(1));
    client.execute("UPDATE mail_outbox SET lease_until = ?",
                   Timestamp::now() + Milliseconds(60'000));
    BOOST_TEST(!service::purge_step(context).any());
    client.run("UPDATE mail_outbox SET lease_until = 1");
    BOOST_TEST(service::purge_step(context)["mails"] == 1);
}

BOOST_AUTO_TEST_CASE(the_audit_log_is_kept_for_the_configured_days) {
    const Timestamp ten_days_ago = Timestamp::now() - Milliseconds(10 * kDay);
    put_audit_entry(*this, ten_days_ago);
    Settings brief = test::settings();
    brief.jobs.audit_days = 11;
    service::Context other{database, brief, context.keys};
    BOOST_TEST(!service::purge_step(other).any());
    brief.jobs.audit_days = 10;
    BOOST_TEST(service::purge_step(other)["audit_entries"] == 1);
}

// ---------------------------------------------------------------------------- engagement events

namespace {

// Received at that time; the id contains the time too.
void put_event(Purge& at, OrgId organization, Timestamp when) {
    std::string id(16, '\0');
    std::int64_t time = when.milliseconds();
    for (int i = 5; i >= 0; --i, time >>= 8)
        id[static_cast<std::size_t>(i)] = static_cast<char>(time);
    random_bytes(id.data() + 6, 10);
    at.client.execute(
        "INSERT INTO engagement_events (organization_id, id, action, tags, occurred_at, "
        "received_at, anonymous_id) VALUES (?, ?, 'visited', '[]', 1, ?, 'v-1')",
        organization, id, when);
}

// The value of jobs.engagement_days.
service::Purged purge_events(Purge& at, int days) {
    Settings settings = test::settings();
    settings.jobs.engagement_days = days;
    service::Context other{at.database, settings, at.context.keys};
    return service::purge_step(other);
}

}  // namespace

BOOST_AUTO_TEST_CASE(engagement_events_are_kept_indefinitely_unless_a_retention_is_configured) {
    put_event(*this, acme, Timestamp(1));
    BOOST_TEST(!purge_events(*this, 0).any());
    BOOST_TEST(purge_events(*this, 36'500)["engagement_events"] == 0);
    BOOST_TEST(purge_events(*this, 1)["engagement_events"] == 1);
    BOOST_TEST(!purge_events(*this, 1).any());
}

BOOST_AUTO_TEST_CASE(engagement_events_are_purged_by_their_time_of_receipt) {
    put_event(*this, acme, kWhen);
    put_event(*this, acme, kWhen + Milliseconds(1));
    const auto gone = [&](Timestamp until) {
        return database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            const auto found = store::find_old_events(tx, until, 9).size();
            const auto count = store::purge_engagement_events(org, until, 9);
            BOOST_TEST((found == 1) == (count > 0));
            return count;
        });
    };
    BOOST_TEST(gone(kWhen - Milliseconds(1)) == 0);
    BOOST_TEST(gone(kWhen) == 1);
    BOOST_TEST(gone(kWhen) == 0);
    BOOST_TEST(gone(kWhen + Milliseconds(1)) == 1);
}

BOOST_AUTO_TEST_CASE(an_event_whose_id_is_newer_than_its_receipt_is_purged_by_its_receipt) {
    put_event(*this, acme, kWhen + Milliseconds(30'000));
    client.execute("UPDATE engagement_events SET received_at = ?", kWhen);
    const auto gone = database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        return store::purge_engagement_events(org, kWhen, 9);
    });
    BOOST_TEST(gone == 1);
}

BOOST_AUTO_TEST_CASE(engagement_events_of_all_organizations_are_purged_in_steps) {
    const Timestamp edge = Timestamp::now() - Milliseconds(10 * kDay);
    std::vector<OrgId> organizations{acme};
    for (int i = 0; i < 24; ++i) organizations.push_back(organization("O" + std::to_string(i)));
    for (const OrgId& id : organizations) {
        put_event(*this, id, edge);
        put_event(*this, id, edge + Milliseconds(60'000));
    }
    for (int i = 0; i < 1100; ++i) put_event(*this, acme, edge - Milliseconds(1 + i));
    std::int64_t gone = 0;
    int steps = 0;
    for (auto purged = purge_events(*this, 10); purged.any(); purged = purge_events(*this, 10)) {
        BOOST_TEST(purged["engagement_events"] <= 1000 + 19);
        gone += purged["engagement_events"];
        ++steps;
    }
    BOOST_TEST(gone == 25 + 1100);
    BOOST_TEST(steps == 2);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM engagement_events") == 25);
    BOOST_TEST(
        client.number("SELECT COUNT(*) FROM engagement_events WHERE received_at <= ?", edge) == 0);
}

// ---------------------------------------------------------------------------- monitoring

BOOST_AUTO_TEST_CASE(metrics_report_moving_jobs_and_whether_the_database_responds) {
    BOOST_TEST(service::job_metrics(context).find("muster_database_up 1\n") != std::string::npos);
    const ImportId id = staged(people(1, 1));
    validate(id);
    const std::string text = service::job_metrics(context);
    BOOST_TEST(text.find("muster_imports_moving{state=\"validating\"} 1\n") != std::string::npos);
    BOOST_TEST(text.find("muster_imports_oldest_heartbeat_seconds{state=\"validating\"} 0\n") !=
               std::string::npos);
    auto away = test::connection_settings();
    away.urls = {"unix:/nowhere/mysql.sock"};
    test::DatabaseContext worker(away);
    BOOST_TEST(service::job_metrics(worker.context).find("muster_database_up 0\n") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_purge_that_fails_does_not_stop_the_later_ones) {
    expire(completed(people(1, 1)), Timestamp::now());
    client.execute(
        "INSERT INTO ad_member_days (organization_id, campaign_id, member_id, day, shown) "
        "VALUES (?, REPEAT('c', 16), REPEAT('m', 16), 1, 1)",
        acme);
    client.run(
        "CREATE TRIGGER fails BEFORE DELETE ON import_jobs FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'made up by a test'");
    const auto kind = test::kind_of([&] { (void)service::purge_step(context); });
    client.run("DROP TRIGGER fails");
    BOOST_TEST((kind == db::DbError::Kind::BadData));
    BOOST_TEST(jobs() == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_member_days") == 0);
    BOOST_TEST(service::purge_step(context)["imports"] == 1);
}

BOOST_AUTO_TEST_CASE(rotated_webhook_secrets_are_purged_when_their_overlap_ends) {
    const InstallationId shop = install(acme);
    const Timestamp now = Timestamp::now();
    const Timestamp later = now + Milliseconds(60'000);
    const auto add = [&](const char* id, Timestamp previous_until, Timestamp older_until) {
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, previous_secret, previous_secret_until, older_secret, "
            "older_secret_until, created_at, updated_at) VALUES (?, REPEAT(?, 16), ?, "
            "'https://e.test/', 'a.b', 'active', 's', 'p', ?, 'o', ?, 1, 1)",
            acme, id, shop, previous_until, older_until);
    };
    add("a", now, now);
    add("b", later, now);
    add("c", later, later);
    BOOST_TEST(service::purge_step(context)["previous_secrets"] == 2);
    BOOST_TEST(client.column("SELECT CONCAT(COALESCE(previous_secret, '-'), "
                             "COALESCE(older_secret, '-'), previous_secret_until IS NULL, "
                             "older_secret_until IS NULL) FROM webhook_endpoints ORDER BY id") ==
               std::vector<std::string>({"--11", "p-01", "po00"}));
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_SUITE_END()
