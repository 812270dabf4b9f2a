// service/purge.hpp: what is kept for thirty days is kept for thirty days, and not longer.
#include "service/purge.hpp"

#include "base/crypto.hpp"
#include "db/imports.hpp"
#include "service/monitoring.hpp"

using namespace muster;
using test::ImportHouse;
using test::people;

namespace {

struct Purge : ImportHouse {
    void expire(ImportId id, Timestamp when) {
        client.execute("UPDATE import_jobs SET expires_at = ? WHERE id = ?", when, id);
    }
    std::int64_t jobs() { return client.number("SELECT COUNT(*) FROM import_jobs"); }
    std::int64_t blocks() { return client.number("SELECT COUNT(*) FROM import_blocks"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(purge, Purge)

BOOST_AUTO_TEST_CASE(a_job_goes_with_its_rows_at_the_very_moment_and_not_before) {
    const ImportId kept = completed(people(1, 10));
    const ImportId gone = completed(people(11, 10));
    expire(kept, Timestamp::now() + Milliseconds(60'000));
    const auto members_before = members();
    BOOST_TEST(!service::purge_step(context).any());
    expire(gone, Timestamp::now());
    const auto purged = service::purge_step(context);
    BOOST_TEST(purged.imports == 1);
    BOOST_TEST(purged.blocks == 1);
    BOOST_TEST(service::read_import(context, acme, kept).has_value());
    BOOST_TEST(!service::read_import(context, acme, gone).has_value());
    BOOST_TEST(jobs() == 1);
    BOOST_TEST(blocks() == 1);
    BOOST_TEST(members() == members_before);
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_CASE(the_moment_is_the_one_that_is_stored) {
    // Of two jobs on either side of now, by a millisecond, the store tells them apart.
    const ImportId id = completed(people(1, 1));
    const Timestamp when{1'900'000'000'000};
    expire(id, when);
    const auto found = [&](Timestamp now) {
        return database.read([&](db::Tx& tx) { return store::find_expired_imports(tx, now, 9); })
            .size();
    };
    BOOST_TEST(found(when - Milliseconds(1)) == 0);
    BOOST_TEST(found(when) == 1);
    BOOST_TEST(found(when + Milliseconds(1)) == 1);
}

BOOST_AUTO_TEST_CASE(a_job_goes_whatever_its_state) {
    for (const char* state :
         {"staging", "validating", "validated", "committing", "completed", "failed", "canceled"}) {
        const ImportId id = staged(people(1, 3));
        client.execute("UPDATE import_jobs SET state = ?", state);
        expire(id, Timestamp::now());
        BOOST_TEST(service::purge_step(context).imports == 1, state);
        BOOST_TEST(jobs() == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_large_job_goes_in_steps_its_record_last) {
    const ImportId id = staged(people(1, 250, 500));
    expire(id, Timestamp::now());
    int steps = 0;
    std::int64_t purged_blocks = 0;
    while (true) {
        const auto purged = service::purge_step(context);
        if (!purged.any()) break;
        ++steps;
        purged_blocks += purged.blocks;
        BOOST_TEST(jobs() == (blocks() > 0 || purged.imports == 0 ? 1 : 0));
    }
    BOOST_TEST(steps == 3);
    BOOST_TEST(purged_blocks == 250);
    BOOST_TEST(jobs() == 0);
}

BOOST_AUTO_TEST_CASE(exactly_as_many_blocks_as_a_step_takes_leave_no_job_behind) {
    expire(staged(people(1, 100, 500)), Timestamp::now());
    while (service::purge_step(context).any()) continue;
    BOOST_TEST(jobs() == 0);
    BOOST_TEST(blocks() == 0);
}

BOOST_AUTO_TEST_CASE(many_jobs_go_a_few_at_a_time) {
    for (int i = 0; i < 45; ++i) {
        const ImportId id = staged(people(1, 1));
        cancel(id);
        expire(id, Timestamp(1 + i));
    }
    BOOST_TEST(service::purge_step(context).imports == 20);
    BOOST_TEST(service::purge_step(context).imports == 20);
    BOOST_TEST(service::purge_step(context).imports == 5);
    BOOST_TEST(!service::purge_step(context).any());
}

BOOST_AUTO_TEST_CASE(recorded_replies_go_at_their_moment) {
    const auto record = [&](const std::string& key, Timestamp until) {
        service::transact(context, {acme, {}},
                          service::IdempotencyClaim{sha256(key), sha256(""), Secret(key)},
                          [&](service::Unit&) {
                              return service::StoredReply{200, "", "", until};
                          });
    };
    record("gone", Timestamp::now());
    record("kept", Timestamp::now() + Milliseconds(60'000));
    BOOST_TEST(service::purge_step(context).idempotency_keys == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM idempotency_keys") == 1);
}

BOOST_AUTO_TEST_CASE(two_purges_at_once_do_no_harm) {
    for (int i = 0; i < 20; ++i) {
        const ImportId id = staged(people(1, 20, 500));
        cancel(id);
        expire(id, Timestamp(1));
    }
    test::side_by_side(4, [](int) {
        test::Desk desk;
        while (service::purge_step(desk.context).any()) continue;
    });
    BOOST_TEST(jobs() == 0);
    BOOST_TEST(blocks() == 0);
}

// ---------------------------------------------------------------------------- monitoring

BOOST_AUTO_TEST_CASE(the_figures_tell_what_moves_and_whether_the_database_answers) {
    BOOST_TEST(service::job_metrics(context).find("muster_database_up 1\n") != std::string::npos);
    const ImportId id = staged(people(1, 1));
    validate(id);
    const std::string text = service::job_metrics(context);
    BOOST_TEST(text.find("muster_imports_moving{state=\"validating\"} 1\n") != std::string::npos);
    BOOST_TEST(text.find("muster_imports_oldest_heartbeat_seconds{state=\"validating\"} 0\n") !=
               std::string::npos);
    auto away = test::connection_settings();
    away.urls = {"unix:/nowhere/mysql.sock"};
    test::Desk desk(away);
    BOOST_TEST(service::job_metrics(desk.context).find("muster_database_up 0\n") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
