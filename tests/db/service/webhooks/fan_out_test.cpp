// service/webhooks/fan_out.hpp: each event has one delivery for each endpoint that subscribes to
// it, whatever happens to runners, and a tenant cannot fill the queue.
#include "service/webhooks/fan_out.hpp"

#include "base/json.hpp"
#include "db/webhook_fixture.hpp"
#include "db/webhooks.hpp"
#include "service/engagement/tracking.hpp"
#include "service/operations/monitoring.hpp"
#include "service/outbox.hpp"
#include "service/webhooks/disabling.hpp"

#include "print.hpp"

#include <future>

using namespace muster;
using service::FanOut;
using test::until;

namespace {

struct FanOuts : test::EndpointFixture {
    // A turn of `waiting` that waits for the endpoint, which an open transaction of `client`
    // deletes.
    std::future<void> turn_during_deletion(EndpointId gone) {
        client.run("BEGIN");
        client.execute("DELETE FROM webhook_endpoints WHERE id = ?", gone);
        auto turn = std::async(std::launch::async, [this] { test::fan_out(waiting.context); });
        test::Client other;
        BOOST_TEST(until([&] { return other.has_lock_wait(); }));
        return turn;
    }

    void emit(OrgId organization, int count, std::string_view type = "member.created") {
        const std::vector<service::Event> events(
            static_cast<std::size_t>(count),
            service::Event{type, std::nullopt, [] { return "{}"; }});
        as(organization,
           [&](service::OrgTransaction& transaction) { service::emit(transaction, events); });
    }
    // Copies of an endpoint.
    void copy(EndpointId of, int count) {
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, created_at, updated_at) "
            "SELECT organization_id, UNHEX(LEFT(SHA2(CONCAT(id, ?, seq), 256), 32)), "
            "installation_id, url, event_types, status, secret, created_at, updated_at "
            "FROM webhook_endpoints, " +
                test::sequence(count) + " WHERE id = ?",
            ++copies_, of);
    }
    std::int64_t deliveries(std::string_view status = "pending") {
        return client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = ?", status);
    }
    std::int64_t deliveries_to(EndpointId endpoint) {
        return client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ?",
                             endpoint);
    }
    std::int64_t in_outbox() { return client.number("SELECT COUNT(*) FROM webhook_outbox"); }
    std::int64_t twice() {
        return client.number(
            "SELECT COUNT(*) - COUNT(DISTINCT event_id, endpoint_id) FROM webhook_deliveries");
    }
    test::DatabaseContext waiting;
    int copies_ = 0;
    // As a program that was written for an earlier schema.
    EndpointId create_as_older_program(std::string_view types) {
        const auto id = EndpointId::create();
        client.execute(
            "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, "
            "event_types, status, secret, created_at, updated_at) "
            "VALUES (?, ?, ?, 'https://example.test/', ?, 'active', 's', 1, 1)",
            acme, id, shop, types);
        return id;
    }
};

// A runner with a bound on what waits.
struct BoundedRunner : test::DatabaseContext {
    explicit BoundedRunner(int backlog) : own(test::settings()) { own.webhooks.backlog = backlog; }
    void work() {
        while (fan_out.turn()) {
        }
    }
    Settings own;
    service::Context mine{database, own, context.keys};
    FanOut fan_out{mine};
};

struct Costs {
    std::int64_t statements = 0;
    std::int64_t rows = 0;
    bool operator==(const Costs&) const = default;
};
std::ostream& operator<<(std::ostream& to, const Costs& costs) {
    return to << costs.statements << " statements, " << costs.rows << " rows";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_fan_out, FanOuts)

BOOST_AUTO_TEST_CASE(a_request_of_a_page_costs_the_same_with_any_number_of_endpoints) {
    const auto first = create({"engagement.recorded"}).endpoint.id;
    service::TrackedCall call{{acme, {}, {}, "r"}, {}, {}, {}};
    for (int i = 0; i < 100; ++i) {
        service::TrackedEvent& event = call.events.emplace_back();
        event.action = "seen";
        event.anonymous_id = "v";
    }
    const auto rows = [&] {
        std::int64_t all = 0;
        for (const char* table : {"engagement_events", "webhook_events", "webhook_outbox",
                                  "webhook_deliveries", "audit_log"}) {
            all += client.number("SELECT COUNT(*) FROM " + std::string(table));
        }
        return all;
    };
    const auto cost = [&] {
        const std::int64_t before = rows();
        db::statistics() = {};
        as(acme, [&](service::OrgTransaction& transaction) {
            service::track_events(transaction, std::array{&call});
        });
        const std::int64_t statements = db::statistics().statements;
        return Costs{statements, rows() - before};
    };
    const Costs one = cost();
    BOOST_TEST(one.rows == 300);
    copy(first, 99);
    test::fan_out(context);
    BOOST_TEST(cost() == one);
    copy(first, 400);
    test::fan_out(context);
    BOOST_TEST(cost() == one);
}

BOOST_AUTO_TEST_CASE(turns_are_bounded_and_organizations_take_them_one_after_another) {
    const OrgId other = organization("Other");
    copy(create().endpoint.id, 29);
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_at, updated_at) VALUES (?, ?, ?, 'https://two.test/', "
        "'member.created', 'active', 's', 1, 1)",
        other, EndpointId::create(), install(other));
    emit(acme, 200);
    emit(other, 1);
    FanOut runner(context);
    std::set<OrgId> served;
    for (int i = 0; i < 2; ++i) served.insert(runner.turn().value().organization);
    BOOST_TEST((served == std::set<OrgId>{acme, other}));
    BOOST_TEST(deliveries() <= 1000 + 30 + 1);
    while (runner.turn()) {
    }
    BOOST_TEST(deliveries() == 200 * 30 + 1);
    BOOST_TEST(twice() == 0);
    BOOST_TEST(in_outbox() == 0);
}

BOOST_AUTO_TEST_CASE(several_runners_create_each_delivery_once) {
    copy(create().endpoint.id, 9);
    emit(acme, 150);
    std::vector<std::future<bool>> runners;
    for (int i = 0; i < 3; ++i) {
        runners.push_back(std::async(std::launch::async, [&] {
            test::DatabaseContext own;
            test::Client mine;
            return until([&] {
                test::fan_out(own.context);
                return mine.number("SELECT COUNT(*) FROM webhook_outbox") == 0;
            });
        }));
    }
    for (auto& runner : runners) BOOST_TEST(runner.get());
    BOOST_TEST(deliveries() == 1500);
    BOOST_TEST(twice() == 0);
}

BOOST_AUTO_TEST_CASE(a_runner_that_is_killed_in_a_turn_leaves_the_event_to_the_next_one) {
    const auto gone = create().endpoint.id;
    const auto left = create().endpoint.id;
    emit(acme, 1);
    // The turn waits for the locked endpoint. The event of the runner's killed connection remains.
    const auto session = waiting.database.autocommit(test::session_of);
    auto killed = turn_during_deletion(gone);
    client.kill(session);
    try {
        killed.get();
    } catch (const db::DbError&) {
        // The connection was lost before the commit.
    }
    client.run("COMMIT");
    test::fan_out(context);
    BOOST_TEST(client.column("SELECT endpoint_id FROM webhook_deliveries") ==
               std::vector<std::string>{std::string(left.bytes())});
    BOOST_TEST(in_outbox() == 0);
}

BOOST_AUTO_TEST_CASE(an_endpoint_that_is_deleted_in_a_turn_does_not_affect_the_others) {
    const auto gone = create().endpoint.id;
    const auto left = create().endpoint.id;
    emit(acme, 1);
    auto turn = turn_during_deletion(gone);
    client.run("COMMIT");
    turn.get();
    BOOST_TEST(client.column("SELECT endpoint_id FROM webhook_deliveries") ==
               std::vector<std::string>{std::string(left.bytes())});
}

BOOST_AUTO_TEST_CASE(an_endpoint_gets_the_events_from_its_creation_until_it_is_disabled) {
    const auto early = create().endpoint.id;
    const auto paused = create().endpoint.id;
    const auto disabled = create().endpoint.id;
    emit(acme, 1);
    set_status(paused, rules::EndpointStatus::Paused);
    // Times have a resolution of a millisecond.
    BOOST_TEST(until([&] {
        return Timestamp::now().milliseconds() >
               client.number("SELECT MAX(created_at) FROM webhook_outbox");
    }));
    set_status(disabled, rules::EndpointStatus::Disabled);
    const auto late = create().endpoint.id;
    client.run("UPDATE webhook_outbox SET created_at = created_at - 6000");
    client.run(
        "UPDATE webhook_endpoints SET created_at = created_at - 60000 "
        "ORDER BY id LIMIT 3");
    test::fan_out(context);
    BOOST_TEST(deliveries_to(early) == 1);
    BOOST_TEST(deliveries_to(paused) == 1);
    BOOST_TEST(deliveries_to(late) == 0);
    // `recover` can queue it.
    BOOST_TEST(client.value("SELECT status FROM webhook_deliveries WHERE endpoint_id = ?",
                            disabled) == "canceled");
    emit(acme, 1);
    test::fan_out(context);
    BOOST_TEST(deliveries_to(disabled) == 1);
    BOOST_TEST(deliveries_to(late) == 1);
}

BOOST_AUTO_TEST_CASE(a_delivery_has_the_time_of_its_event_and_is_due_at_once) {
    create();
    emit(acme, 1);
    client.run("UPDATE webhook_outbox SET created_at = created_at - 1000");
    const auto when = client.number("SELECT created_at FROM webhook_outbox");
    test::fan_out(context);
    BOOST_TEST(client.number("SELECT created_at FROM webhook_deliveries") == when);
    BOOST_TEST(client.number("SELECT due_at - created_at FROM webhook_deliveries") >= 1000);
}

BOOST_AUTO_TEST_CASE(endpoints_and_deliveries_of_older_programs_are_served_too) {
    const auto made = create_as_older_program("member.created");
    emit(acme, 1);
    BOOST_TEST(in_outbox() == 1);
    test::fan_out(context);
    BOOST_TEST(deliveries_to(made) == 1);
    BOOST_TEST(client.column("SELECT event_type FROM webhook_subscriptions") ==
               std::vector<std::string>{"member.created"});
    // A change by an older program is noticed by the next runner.
    client.execute(
        "UPDATE webhook_endpoints SET event_types = 'member.locked', updated_at = updated_at + 1 "
        "WHERE id = ?",
        made);
    test::fan_out(context);
    BOOST_TEST(client.column("SELECT event_type FROM webhook_subscriptions") ==
               std::vector<std::string>{"member.locked"});
    emit(acme, 1, "member.locked");
    emit(acme, 1, "member.created");
    test::fan_out(context);
    BOOST_TEST(deliveries_to(made) == 2);
    // An older program inserts deliveries itself, and no row of the outbox.
    deliver(made, "pending");
    test::fan_out(context);
    BOOST_TEST(deliveries_to(made) == 3);
}

// ---------------------------------------------------------------------------- the bound

BOOST_AUTO_TEST_CASE(
    at_the_bound_events_are_kept_and_not_reported_and_the_organization_is_notified_once) {
    const auto full = create({"member.created"}).endpoint.id;
    const auto notified = create({"webhook_endpoint.backlog_dropped"}).endpoint.id;
    emit(acme, 150);
    BoundedRunner runner(100);
    runner.work();
    BOOST_TEST(deliveries_to(full) == 100);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_events") == 151);
    BOOST_TEST(in_outbox() == 0);
    BOOST_TEST(deliveries_to(notified) == 1);
    BOOST_TEST(read(full).backlog_dropped_at.has_value());
    BOOST_TEST(!read(notified).backlog_dropped_at.has_value());
    emit(acme, 50);
    runner.work();
    BoundedRunner another(100);
    emit(acme, 50);
    another.work();
    BOOST_TEST(deliveries_to(full) == 100);
    BOOST_TEST(deliveries_to(notified) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM audit_log WHERE action = "
                             "'webhook_endpoint.backlog_dropped'") == 1);
    Json::Value body;
    BOOST_TEST_REQUIRE(parse_json(
        client.value("SELECT body FROM webhook_events WHERE type LIKE 'webhook_endpoint%'"), body));
    BOOST_TEST(body["data"]["endpoint_id"].asString() == full.text());
    BOOST_TEST(body["data"]["limit"].asInt() == 100);
    BOOST_TEST(service::job_metrics(context).find("\nmuster_webhook_dropped_total 150\n") !=
               std::string::npos);
    BOOST_TEST(service::webhook_warning(context).find("1 webhook endpoint") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(deliveries_are_created_again_when_the_queue_is_shorter) {
    const auto id = create().endpoint.id;
    BoundedRunner runner(100);
    emit(acme, 100);
    runner.work();
    client.run("UPDATE webhook_deliveries SET status = 'succeeded', due_at = NULL");
    emit(acme, 30);
    runner.work();
    BOOST_TEST(deliveries_to(id) == 130);
}

BOOST_AUTO_TEST_CASE(an_endpoint_with_less_than_its_share_gets_deliveries_at_the_bound) {
    const auto full = create().endpoint.id;
    emit(acme, 100);
    BoundedRunner runner(100);
    runner.work();
    const auto other = create({"member.created", "member.locked"}).endpoint.id;
    emit(acme, 60, "member.locked");
    runner.work();
    BOOST_TEST(deliveries_to(full) == 100);
    BOOST_TEST(deliveries_to(other) == 50);
}

BOOST_AUTO_TEST_CASE(the_bound_of_one_organization_does_not_affect_another) {
    const OrgId other = organization("Other");
    create();
    const auto theirs = EndpointId::create();
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_at, updated_at) VALUES (?, ?, ?, 'https://two.test/', "
        "'member.created', 'active', 's', 1, 1)",
        other, theirs, install(other));
    BoundedRunner runner(100);
    emit(acme, 300);
    emit(other, 10);
    runner.work();
    BOOST_TEST(deliveries_to(theirs) == 10);
    BOOST_TEST(deliveries() == 110);
}

BOOST_AUTO_TEST_CASE(a_runner_that_is_down_is_noticed_by_the_events_that_wait) {
    create();
    emit(acme, 1);
    BOOST_TEST(service::webhook_problem(context).empty());
    client.run("UPDATE webhook_outbox SET created_at = created_at - 600000");
    BOOST_TEST(service::webhook_problem(context).find("10 minutes") != std::string::npos);
    BOOST_TEST(service::job_metrics(context).find("\nmuster_webhook_outbox 1\n") !=
               std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
