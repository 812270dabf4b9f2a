// store/webhooks/queue.hpp: finding due deliveries costs the same for queues of any length, and two
// runners never get the same delivery.
#include "store/webhooks/queue.hpp"

#include "db/webhook_fixture.hpp"
#include "service/operations/purge.hpp"

#include "print.hpp"

#include <algorithm>
#include <set>

using namespace muster;

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

std::vector<DeliveryId> ids_of(const store::Claim& claim) {
    std::vector<DeliveryId> ids;
    for (const auto& delivery : claim.deliveries) ids.push_back(delivery.id);
    return ids;
}

struct Queue : test::WebhookFixture {
    // `count` deliveries to each endpoint, overdue, all of one event.
    void fill(const std::vector<EndpointId>& endpoints, int count) {
        const auto event = WebhookEventId::create();
        client.execute(
            "INSERT INTO webhook_events (organization_id, id, type, body, created_at) "
            "VALUES (?, ?, 'a.b', '{}', 1)",
            acme, event);
        for (const EndpointId& id : endpoints) {
            client.execute(
                "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, "
                "status, due_at, created_at, updated_at) SELECT ?, UNHEX(LEFT(SHA2(CONCAT(?, seq), 256), 32)), ?, "
                "?, 'pending', seq, 1, 1 FROM " +
                    test::sequence(count),
                acme, id, id, event);
        }
    }
    // Rows and index entries that the statements of `work` read on the connection of `worker`.
    std::int64_t reads(const std::function<void(db::Tx&)>& work) {
        return database.transaction([&](db::Tx& tx) {
            const auto before = test::entries_read(tx, "rnd");
            work(tx);
            return test::entries_read(tx, "rnd") - before;
        });
    }
    // How many statements the connection of `database` has prepared.
    std::int64_t prepared() {
        static constexpr db::SystemSql kPrepared{"test.prepared",
                                                 db::Why{"a test looks at its own session"},
                                                 "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'"};
        return database.autocommit([](db::Tx& tx) -> std::int64_t {
            auto rows = tx.query(kPrepared);
            BOOST_REQUIRE(rows.next());
            return std::stoll(rows.bytes(2));
        });
    }
    store::Claim claim(db::OrgStore& org, EndpointId of, const store::ClaimLimit& limit) {
        const Timestamp now = Timestamp::now();
        return store::claim_deliveries(org, of, Uuid::v7(), now, now + Milliseconds(60'000), limit);
    }
    store::Claim claim(EndpointId of, const store::ClaimLimit& limit) {
        return database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            return claim(org, of, limit);
        });
    }
    // Deliveries with bodies of this size, the longest due first.
    std::vector<DeliveryId> queue_sized(EndpointId to, int count, int size) {
        const auto ids = queue(to, count);
        client.execute("UPDATE webhook_events SET body = REPEAT('x', ?)", size);
        for (int i = 0; i < count; ++i) {
            client.execute("UPDATE webhook_deliveries SET due_at = ? WHERE id = ?", 1 + i,
                           ids[static_cast<std::size_t>(i)]);
        }
        return ids;
    }
    std::vector<store::DueEndpoint> due(db::Tx& tx, bool failing = false) {
        return store::find_due_endpoints(tx, failing, Timestamp::now(), 1000);
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_queue, Queue)

BOOST_AUTO_TEST_CASE(finding_due_deliveries_reads_the_same_for_a_long_queue) {
    const auto to = endpoint("https://one.example/");
    BOOST_TEST(reads([&](db::Tx& tx) { BOOST_TEST(due(tx).empty()); }) < 20);
    fill({to}, 100'000);
    BOOST_TEST(reads([&](db::Tx& tx) { BOOST_TEST(due(tx).size() == 1U); }) < 20);
    BOOST_TEST(reads([&](db::Tx& tx) {
                   db::OrgStore org(tx, acme);
                   BOOST_TEST(claim(org, to, {8, kMebibyte}).deliveries.size() == 8U);
               }) < 40);
    BOOST_TEST(reads([&](db::Tx& tx) {
                   db::OrgStore org(tx, acme);
                   BOOST_TEST(store::cancel_pending(org, to, Timestamp::now(), 10) == 10);
               }) < 40);
}

BOOST_AUTO_TEST_CASE(a_thousand_paused_endpoints_cost_one_read_each) {
    std::vector<EndpointId> paused;
    for (int i = 0; i < 1000; ++i) paused.push_back(endpoint("https://one.example/"));
    client.run("UPDATE webhook_endpoints SET status = 'paused'");
    fill(paused, 20);
    const auto active = endpoint("https://two.example/");
    fill({active}, 20'000);
    const auto began = Timestamp::now();
    BOOST_TEST(reads([&](db::Tx& tx) { BOOST_TEST(due(tx).size() == 1U); }) < 8'000);
    BOOST_TEST_MESSAGE("milliseconds: " << (Timestamp::now() - began).count());
}

BOOST_AUTO_TEST_CASE(failing_endpoints_are_found_separately_and_the_longest_due_first) {
    const auto late = endpoint("https://one.example/");
    const auto later = endpoint("https://two.example/");
    const auto failing = endpoint("https://three.example/");
    set(failing, "failing_since", "1");
    queue(late);
    queue(later);
    queue(failing);
    client.execute("UPDATE webhook_deliveries SET due_at = 5 WHERE endpoint_id = ?", late);
    database.autocommit([&](db::Tx& tx) {
        const auto healthy = due(tx);
        BOOST_REQUIRE(healthy.size() == 2U);
        BOOST_TEST(healthy[0].endpoint == late);
        BOOST_TEST(healthy[1].endpoint == later);
        const auto others = due(tx, true);
        BOOST_REQUIRE(others.size() == 1U);
        BOOST_TEST(others[0].endpoint == failing);
        BOOST_TEST(others[0].organization == acme);
    });
}

BOOST_AUTO_TEST_CASE(an_organization_with_many_late_endpoints_does_not_hide_others) {
    std::vector<EndpointId> late;
    for (int i = 0; i < 12; ++i) late.push_back(endpoint("https://one.example/"));
    fill(late, 1);
    const auto other = organization("Other");
    const auto theirs = endpoint(other, install(other), "https://two.example/");
    queue(other, theirs);
    database.autocommit([&](db::Tx& tx) {
        const auto found = store::find_due_endpoints(tx, false, Timestamp::now(), 10);
        BOOST_REQUIRE(found.size() == 10U);
        BOOST_TEST(found[0].organization == acme);
        BOOST_TEST(found[1].endpoint == theirs);
    });
}

BOOST_AUTO_TEST_CASE(a_delivery_claimed_by_one_runner_is_skipped_by_another) {
    const auto to = endpoint("https://one.example/");
    queue(to, 10);
    test::DatabaseContext other;
    std::set<DeliveryId> all;
    const auto claim_in = [&](db::Tx& tx, int limit) {
        db::OrgStore org(tx, acme);
        const auto claimed = claim(org, to, {limit, kMebibyte}).deliveries;
        for (const auto& delivery : claimed) all.insert(delivery.id);
        return claimed.size();
    };
    database.transaction([&](db::Tx& tx) {
        BOOST_TEST(claim_in(tx, 4) == 4U);
        other.database.transaction([&](db::Tx& theirs) { BOOST_TEST(claim_in(theirs, 9) == 6U); });
    });
    BOOST_TEST(all.size() == 10U);
}

BOOST_AUTO_TEST_CASE(a_claim_takes_the_longest_due_deliveries_whose_bodies_fit) {
    using Ids = std::vector<DeliveryId>;
    const auto to = endpoint("https://one.example/");
    const auto ids = queue_sized(to, 6, 1'000);
    const auto first = claim(to, {5, 2'999});
    BOOST_TEST(ids_of(first) == (Ids{ids[0], ids[1]}));
    BOOST_TEST(first.has_more);
    BOOST_TEST(first.is_cut);
    BOOST_TEST(*first.deliveries[1].body == std::string(1'000, 'x'));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE due_at < 10 "
                             "AND lease_owner IS NULL") == 4);
    const auto oversized = claim(to, {5, 999});
    BOOST_TEST(ids_of(oversized) == Ids{ids[2]});
    BOOST_TEST(oversized.has_more);
    const auto exact = claim(to, {2, 2'000});
    BOOST_TEST(ids_of(exact) == (Ids{ids[3], ids[4]}));
    BOOST_TEST(exact.has_more);
    BOOST_TEST(!exact.is_cut);
    const auto last = claim(to, {2, 2'000});
    BOOST_TEST(ids_of(last) == Ids{ids[5]});
    BOOST_TEST(!last.has_more);
    BOOST_TEST(!claim(to, {2, 2'000}).has_more);
}

// A test event that is committed during the claim looks so to the statement that locks deliveries.
BOOST_AUTO_TEST_CASE(a_delivery_without_its_event_does_not_stop_the_others) {
    const auto to = endpoint("https://one.example/");
    const auto ids = queue(to, 3);
    client.run("SET foreign_key_checks = 0");
    client.execute(
        "DELETE FROM webhook_events WHERE id = (SELECT event_id FROM webhook_deliveries "
        "WHERE id = ?)",
        ids[1]);
    const auto claimed = ids_of(claim(to, {3, kMebibyte}));
    BOOST_TEST(std::set(claimed.begin(), claimed.end()) == (std::set{ids[0], ids[2]}));
}

BOOST_AUTO_TEST_CASE(lists_of_five_to_eight_deliveries_share_a_prepared_statement) {
    const auto ids = queue(endpoint("https://one.example/"), 8);
    (void)prepared();
    const auto before = prepared();
    for (std::size_t count = 5; count <= 8; ++count) {
        as(acme, [&](service::OrgTransaction& transaction) {
            db::OrgStore org(transaction.tx, acme);
            store::set_succeeded(org, std::span(ids).first(count), transaction.now);
        });
    }
    BOOST_TEST(prepared() - before == 1);
    BOOST_TEST(client.number("SELECT MAX(step) FROM webhook_deliveries") == 4);
    BOOST_TEST(client.number("SELECT MIN(step) FROM webhook_deliveries") == 1);
}

BOOST_AUTO_TEST_CASE(a_runner_ends_more_leases_than_one_statement_lists) {
    const auto to = endpoint("https://one.example/");
    queue(to, 300);
    const Uuid runner = Uuid::v7();
    as(acme, [&](service::OrgTransaction& transaction) {
        db::OrgStore org(transaction.tx, acme);
        const Timestamp now = transaction.now;
        auto ids = ids_of(store::claim_deliveries(org, to, runner, now, now + Milliseconds(60'000),
                                                  {300, kMebibyte}));
        BOOST_TEST(ids.size() == 300U);
        std::reverse(ids.begin(), ids.end());
        const auto locked = store::lock_claimed(org, ids, runner);
        BOOST_TEST(locked.size() == 300U);
        BOOST_TEST(std::is_sorted(locked.begin(), locked.end()));
        BOOST_TEST(store::release_deliveries(org, ids, runner, now) == 300);
    });
}

BOOST_AUTO_TEST_CASE(the_size_of_a_body_is_in_bytes) {
    const auto to = endpoint("https://one.example/");
    queue(to, 2);
    client.run("UPDATE webhook_events SET body = REPEAT(_utf8mb4 x'c3a4', 10)");
    const auto claimed = claim(to, {2, 39});
    BOOST_TEST_REQUIRE(claimed.deliveries.size() == 1U);
    BOOST_TEST(claimed.deliveries[0].size == 20);
}

BOOST_AUTO_TEST_CASE(deliveries_of_one_event_share_a_body) {
    const auto to = endpoint("https://one.example/");
    fill({to}, 3);
    const auto claimed = claim(to, {3, kMebibyte}).deliveries;
    BOOST_TEST_REQUIRE(claimed.size() == 3U);
    BOOST_TEST(claimed[0].body == claimed[2].body);
    BOOST_TEST(*claimed[0].body == "{}");
}

BOOST_AUTO_TEST_CASE(a_claim_neither_locks_events_nor_waits_for_them) {
    const auto to = endpoint("https://one.example/");
    queue(to, 4);
    database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        BOOST_TEST(claim(org, to, {2, kMebibyte}).deliveries.size() == 2U);
        BOOST_TEST(client.column("SELECT 1 FROM webhook_events FOR UPDATE SKIP LOCKED").size() ==
                   4U);
    });
    client.run("START TRANSACTION");
    BOOST_TEST(client.column("SELECT 1 FROM webhook_events FOR UPDATE").size() == 4U);
    BOOST_TEST(claim(to, {2, kMebibyte}).deliveries.size() == 2U);
    client.run("ROLLBACK");
}

BOOST_AUTO_TEST_CASE(events_are_purged_after_thirty_days_with_their_deliveries) {
    constexpr std::int64_t kMonth = 30L * 24 * 3600 * 1000;
    const auto to = endpoint("https://one.example/");
    queue(to, 700);
    client.run(
        "INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, duration_ms, "
        "created_at) SELECT organization_id, id, id, 'dns', 1, 1 FROM webhook_deliveries");
    const Timestamp now = Timestamp::now();
    client.execute("UPDATE webhook_events SET created_at = ?", now - Milliseconds(kMonth));
    client.execute("UPDATE webhook_events SET created_at = ? LIMIT 1",
                   now - Milliseconds(kMonth - 60'000));
    std::int64_t purged = 0;
    int steps = 0;
    while (const auto some = service::purge_step(context)["webhook_events"]) {
        purged += some;
        ++steps;
    }
    BOOST_TEST(purged == 699);
    BOOST_TEST(steps == 4);
    for (const char* table : {"webhook_events", "webhook_deliveries", "webhook_attempts"}) {
        BOOST_TEST(count(table) == 1, table);
    }
}

BOOST_AUTO_TEST_SUITE_END()
