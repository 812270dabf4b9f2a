// service/connections/refresher.hpp: the runner refreshes each due connection once, with several
// runners and failing providers, and revokes the tokens of removed connections.
#include "service/connections/refresher.hpp"

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "db/connections.hpp"
#include "jobs/kinds.hpp"
#include "service/connections/refresh.hpp"
#include "service/operations/monitoring.hpp"
#include "service/operations/purge.hpp"
#include "unit/base/logged.hpp"

#include <atomic>
#include <set>

using namespace muster;
using rules::ConnectionStatus;
using service::ConnectionRefresher;
using test::holds;
using test::kDay;
using test::kHour;
using test::kMark;
using test::kMinute;
using test::ProviderContext;
using test::ProviderServer;
using test::ServedRequest;

namespace {

struct Upkeep : test::ConnectionFixture {
    // How many were processed until none was due.
    static int all(ConnectionRefresher& refresher) {
        int total = 0;
        for (int some = refresher.step(never); some > 0; some = refresher.step(never))
            total += some;
        return total;
    }
    static std::shared_ptr<service::ProviderLimits> limits() {
        return std::make_shared<service::ProviderLimits>();
    }
    // Another runner each time.
    int all() {
        ConnectionRefresher refresher(mine, limits());
        return all(refresher);
    }
    void remove(ConnectionId id) {
        mine.database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, admin(), Timestamp::now()};
            service::remove_connection(transaction, mine, id);
        });
    }
    std::string log_of(const std::function<void()>& work) {
        set_log_level(LogLevel::Info);
        std::string log = test::logged(work);
        set_log_level(LogLevel::Error);
        return log;
    }
    std::string figures() { return service::job_metrics(mine); }

    static inline const std::function<bool()> never = [] { return false; };
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_upkeep, Upkeep)

// ---------------------------------------------------------------------------- refreshes

BOOST_AUTO_TEST_CASE(connections_of_an_avoided_provider_cost_no_reads) {
    client.execute(
        "INSERT INTO connections (organization_id, id, provider, name, host, status, details, "
        "refresh_due_at, created_at, updated_at) SELECT ?, UNHEX(LEFT(SHA2(seq, 256), 32)), 'gitlab', 'n', '', "
        "'connected', '{}', seq, 1, 1 FROM " +
            test::sequence(5000),
        acme);
    client.run("ANALYZE TABLE connections");
    const auto reads = mine.database.transaction([&](db::Tx& tx) {
        const auto before = test::entries_read(tx, "rnd");
        const std::vector<std::string_view> resting = {"gitlab"};
        BOOST_TEST(store::find_due_connections(tx, Timestamp::now(), resting, 5).empty());
        return test::entries_read(tx, "rnd") - before;
    });
    BOOST_TEST(reads < 1000);
}

BOOST_AUTO_TEST_CASE(only_due_connections_are_refreshed) {
    const auto due = connected();
    const auto later = connected();
    set(later, "refresh_due_at", Timestamp::now() + kMinute);
    const auto waiting = pending();
    BOOST_TEST(all() == 1);
    BOOST_TEST(tokens(due) == "a1 r1");
    BOOST_TEST(tokens(later) == "a0 r0");
    BOOST_TEST(tokens(waiting) == "none");
    BOOST_TEST(audited().empty());
    BOOST_TEST(all() == 0);
}

BOOST_AUTO_TEST_CASE(access_that_cannot_be_refreshed_expires_at_its_end) {
    const auto ended = connected("linkedin", false);
    set(ended, "access_expires_at", Timestamp::now());
    const auto early = connected("linkedin", false);
    BOOST_TEST(all() == 2);
    BOOST_TEST(row(ended).status == ConnectionStatus::Expired);
    BOOST_TEST(holds(row(ended).error.value(), "LinkedIn"));
    BOOST_TEST(!row(ended).refresh_due_at.has_value());
    BOOST_TEST(row(early).status == ConnectionStatus::Connected);
    BOOST_TEST(row(early).refresh_due_at == row(early).access_expires_at);
    BOOST_TEST(cell(early, "lease_owner") == "-");
    BOOST_TEST(audited() == std::vector<std::string>{"system connection.expired"});
    BOOST_TEST(server.calls() == 0U);
    BOOST_TEST(all() == 0);
}

BOOST_AUTO_TEST_CASE(a_provider_removed_from_the_configuration_is_reported) {
    const auto id = connected();
    own.providers.clear();
    const std::string log = log_of([&] { BOOST_TEST(all() == 1); });
    BOOST_TEST(holds(log, "code=not_configured"));
    BOOST_TEST(row(id).status == ConnectionStatus::Connected);
    BOOST_TEST(row(id).error.has_value());
    set(id, "refresh_due_at", Timestamp(1));
    set(id, "access_expires_at", Timestamp(1));
    BOOST_TEST(all() == 1);
    BOOST_TEST(row(id).status == ConnectionStatus::Error);
}

BOOST_AUTO_TEST_CASE(tokens_sealed_with_another_key_wait_for_a_runner_that_has_it) {
    const auto id = connected();
    set(id, "tokens", KeyRing(Secret(std::string(32, 'x'))).seal("{}", "elsewhere"));
    const auto strange = connected();
    set(strange, "provider", "of_tomorrow");
    const auto before = row(id);
    const std::string log = log_of([&] { BOOST_TEST(all() == 2); });
    BOOST_TEST(holds(log, "event=connection.tokens_unreadable"));
    for (const auto& one : {id, strange}) {
        BOOST_TEST(row(one).status == ConnectionStatus::Connected);
        BOOST_TEST(row(one).refresh_due_at.value() > Timestamp::now());
        BOOST_TEST(cell(one, "lease_owner") == "-");
    }
    BOOST_TEST(row(id).tokens == before.tokens);
    BOOST_TEST(server.calls() == 0U);
}

BOOST_AUTO_TEST_CASE(several_runners_make_one_call_per_connection) {
    std::vector<ConnectionId> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(connected());
    test::in_parallel(4, [&](int) {
        ProviderContext station(own);
        ConnectionRefresher refresher(station.mine, limits());
        all(refresher);
    });
    while (all() > 0) continue;
    BOOST_TEST(server.calls() == ids.size());
    for (const auto id : ids) BOOST_TEST(row(id).token_generation == 2);
}

BOOST_AUTO_TEST_CASE(another_runner_takes_over_after_the_lease_of_a_crashed_one) {
    const auto id = connected();
    set(id, "lease_owner", Uuid::v7());
    set(id, "lease_until", Timestamp::now() + kMinute);
    BOOST_TEST(all() == 0);
    BOOST_TEST(service::refresh_connection(mine, admin(), id, test::kMayWait).state ==
               service::RefreshState::InProgress);
    BOOST_TEST(server.calls() == 0U);
    set(id, "lease_until", Timestamp::now());
    BOOST_TEST(all() == 1);
    BOOST_TEST(tokens(id) == "a1 r1");
}

BOOST_AUTO_TEST_CASE(a_lease_is_longer_than_a_call_and_the_write) {
    const auto id = connected();
    server.answer([&](const ServedRequest&) {
        const auto left = test::Client().number("SELECT lease_until FROM connections") -
                          Timestamp::now().milliseconds();
        return ProviderServer::answering(left > 50'000 && left <= 60'000 ? 200 : 500,
                                         ProviderServer::granted(1));
    });
    BOOST_TEST(all() == 1);
    BOOST_TEST(tokens(id) == "a1 r1");
}

BOOST_AUTO_TEST_CASE(no_call_is_started_after_the_deadline) {
    for (int i = 0; i < 3; ++i) connected();
    ConnectionRefresher refresher(mine, limits());
    BOOST_TEST(refresher.step([] { return true; }) == 0);
    BOOST_TEST(refresher.step([&] { return server.calls() == 1; }) == 1);
    BOOST_TEST(server.calls() == 1U);
}

// ---------------------------------------------------------------------------- slow providers

BOOST_AUTO_TEST_CASE(an_unresponsive_provider_is_avoided_and_others_continue) {
    server.answer([](const ServedRequest&) {
        test::ServedResponse response;
        response.hang_up = true;
        return response;
    });
    const ProviderServer healthy;
    set_up("slack", healthy);
    std::vector<ConnectionId> dead;
    for (int i = 0; i < 12; ++i) dead.push_back(connected());
    const auto alive = connected("slack");
    set(alive, "refresh_due_at", Timestamp::now());  // last of all
    BOOST_TEST(all() == 2);
    BOOST_TEST(server.calls() == 1U);
    BOOST_TEST(tokens(alive) == "a1 r1");
    // Another runner tries it on its own.
    BOOST_TEST(all() == 1);
    BOOST_TEST(server.calls() == 2U);
}

BOOST_AUTO_TEST_CASE(a_provider_that_returns_errors_is_not_avoided) {
    server.answer(500, "");
    for (int i = 0; i < 7; ++i) connected();
    BOOST_TEST(all() == 7);
    BOOST_TEST(server.calls() == 7U);
    BOOST_TEST(all() == 0);
}

BOOST_AUTO_TEST_CASE(an_unresponsive_provider_never_occupies_all_lanes) {
    std::atomic<bool> is_over{false};
    std::atomic<int> hanging{0};
    std::atomic<int> most{0};
    server.answer([&](const ServedRequest&) {
        most = std::max(most.load(), ++hanging);
        (void)test::until([&] { return is_over.load(); });
        --hanging;
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    const ProviderServer healthy;
    set_up("slack", healthy);
    std::vector<ConnectionId> stuck;
    for (int i = 0; i < 6; ++i) stuck.push_back(connected());
    const auto alive = connected("slack");
    set(alive, "refresh_due_at", Timestamp::now());  // last of all
    const auto lanes = limits();
    const jobs::Deadline deadline(kHour);
    test::in_parallel(4, [&](int) {
        ProviderContext station(own);
        const auto work = jobs::connection_work(station.mine, lanes);
        (void)test::until([&] {
            work.turn(deadline);
            if (healthy.calls() == 1) is_over = true;
            return is_over.load();
        });
    });
    BOOST_TEST(healthy.calls() == 1U);
    BOOST_TEST(tokens(alive) == "a1 r1");
    BOOST_TEST(most <= 2);
    for (const auto& id : stuck) BOOST_TEST(row(id).error.has_value() == false);
}

BOOST_AUTO_TEST_CASE(a_provider_has_two_lanes_and_is_avoided_if_unresponsive) {
    service::ProviderLimits lanes;
    {
        service::ProviderPermit one(lanes, "slow");
        service::ProviderPermit two(lanes, "slow");
        BOOST_TEST(one.is_allowed());
        BOOST_TEST(two.is_allowed());
        service::ProviderPermit three(lanes, "slow");
        BOOST_TEST(!three.is_allowed());
        BOOST_TEST(lanes.skipped() == std::vector<std::string>{"slow"});
        const service::ProviderPermit other(lanes, "other");
        BOOST_TEST(other.is_allowed());
    }
    BOOST_TEST(lanes.skipped().empty());
    service::ProviderPermit(lanes, "dead").mark_unreachable();
    BOOST_TEST(lanes.skipped() == std::vector<std::string>{"dead"});
    BOOST_TEST(!service::ProviderPermit(lanes, "dead").is_allowed());
}

// ---------------------------------------------------------------------------- removed connections

BOOST_AUTO_TEST_CASE(a_removed_connection_is_not_found_and_its_tokens_are_revoked) {
    const auto id = connected();
    const auto at_google = connected("google_docs");
    remove(id);
    remove(at_google);
    BOOST_TEST(test::code_of([&] {
                   service::refresh_connection(mine, admin(), id, test::kMayWait);
               }) == ErrorCode::NotFound);
    BOOST_TEST(test::code_of([&] { remove(id); }) == ErrorCode::NotFound);
    BOOST_TEST(is_there(id));
    BOOST_TEST(all() == 2);
    BOOST_TEST(!is_there(id));
    BOOST_TEST(!is_there(at_google));
    const auto requests = server.requests("/revoke");
    BOOST_TEST_REQUIRE(requests.size() == 2U);
    BOOST_TEST(holds(requests.at(0).body, "token=r0hushhush"));
    BOOST_TEST(server.calls() == 0U);
    BOOST_TEST(audited() == std::vector<std::string>(2, "admin connection.removed"));
}

BOOST_AUTO_TEST_CASE(tokens_without_a_revocation_endpoint_are_deleted_immediately) {
    const auto without_tokens = pending();
    const auto without_endpoint = connected("linkedin");
    remove(without_tokens);
    remove(without_endpoint);
    BOOST_TEST(!is_there(without_tokens));
    BOOST_TEST(!is_there(without_endpoint));
    BOOST_TEST(all() == 0);
}

BOOST_AUTO_TEST_CASE(a_custom_server_without_a_revocation_endpoint_is_not_called) {
    own.providers["gitlab"].revoke_url =
        "";  // as for a custom token_url whose server has no such endpoint
    const auto id = connected();
    remove(id);
    BOOST_TEST(!is_there(id));
    // The configuration may change between the removal and the turn of the runner.
    own.providers["gitlab"].revoke_url = server.url("/revoke");
    const auto waiting = connected();
    remove(waiting);
    const auto due = connected();
    own.providers["gitlab"].revoke_url = "";
    BOOST_TEST(is_there(waiting));
    BOOST_TEST(all() == 2);
    BOOST_TEST(!is_there(waiting));
    BOOST_TEST(tokens(due) == "a1 r1");  // the provider is not avoided because of it
    BOOST_TEST(server.calls("/revoke") == 0U);
}

BOOST_AUTO_TEST_CASE(revocation_is_retried_for_a_day_and_then_dropped) {
    const auto id = connected();
    remove(id);
    server.answer(503, "");
    for (const int minutes : {1, 5, 15, 60}) {
        BOOST_TEST(all() == 1);
        const auto due = std::stoll(cell(id, "refresh_due_at")) - Timestamp::now().milliseconds();
        BOOST_TEST((due + 5000) / 60'000 == minutes);
        set(id, "refresh_due_at", Timestamp::now());
    }
    set(id, "removed_at", Timestamp::now() - kDay + kMinute);
    BOOST_TEST(all() == 1);
    BOOST_TEST(is_there(id));
    BOOST_TEST(std::stoll(cell(id, "refresh_due_at")) <=
               (Timestamp::now() + kMinute).milliseconds());
    set(id, "refresh_due_at", Timestamp::now());
    set(id, "removed_at", Timestamp::now() - kDay);
    const std::string log = log_of([&] { BOOST_TEST(all() == 1); });
    BOOST_TEST(holds(log, "level=warning event=connection.never_given_back"));
    BOOST_TEST(!is_there(id));
}

BOOST_AUTO_TEST_CASE(tokens_unknown_to_the_provider_are_dropped) {
    const auto id = connected();
    remove(id);
    server.answer(400, R"({"error":"invalid_token"})");
    BOOST_TEST(all() == 1);
    BOOST_TEST(!is_there(id));
}

BOOST_AUTO_TEST_CASE(a_removal_during_a_refresh_revokes_the_newest_tokens) {
    const auto id = connected();
    server.answer([&](const ServedRequest& request) {
        if (request.path == "/token") {
            ProviderContext station(own);
            station.mine.database.transaction([&](db::Tx& tx) {
                service::OrgTransaction transaction{tx, admin(), Timestamp::now()};
                service::remove_connection(transaction, mine, id);
            });
            // The old tokens are not revoked in the meantime.
            ConnectionRefresher other(station.mine, limits());
            all(other);
        }
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    BOOST_TEST(all() == 2);
    BOOST_TEST(!is_there(id));
    BOOST_TEST_REQUIRE(server.calls("/revoke") == 1U);
    BOOST_TEST(holds(server.requests("/revoke").at(0).body, "token=r1hushhush"));
}

// ---------------------------------------------------------------------------- logs and metrics

BOOST_AUTO_TEST_CASE(logs_contain_no_tokens_codes_or_secrets) {
    const std::string log = log_of([&] {
        const auto code = grant(pending(), "code" + std::string(kMark));
        (void)service::exchange_code(mine, admin(), code);
        connected();
        all();
        for (const int status : {200, 302, 400, 401, 429, 503}) {
            server.answer(status, R"({"error":"invalid_grant","error_description":"hushhush",)"
                                  R"("refresh_token":"r0hushhush"})");
            connected();
            remove(connected());
            (void)service::exchange_code(mine, admin(), code);
            all();
        }
    });
    BOOST_TEST(holds(log, "event=connection.connected"));
    BOOST_TEST(holds(log, "event=connection.refreshed"));
    BOOST_TEST(holds(log, "event=connection.refresh_failed"));
    BOOST_TEST(holds(log, "event=connection.given_back"));
    BOOST_TEST(holds(log, "code=invalid_grant"));
    BOOST_TEST(!holds(log, kMark));
    for (const std::string column : {"error", "details"}) {
        BOOST_TEST(client.number("SELECT COUNT(*) FROM connections WHERE " + column +
                                 " LIKE '%hushhush%'") == 0);
    }
}

BOOST_AUTO_TEST_CASE(tokens_that_could_not_be_written_are_reported) {
    const auto id = connected();
    const test::SchemaChange outage(
        client,
        "CREATE TRIGGER outage BEFORE UPDATE ON connections FOR EACH ROW "
        "IF NOT (NEW.tokens <=> OLD.tokens) THEN "
        "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF",
        "DROP TRIGGER outage");
    const auto connection = row(id);
    const auto plan = service::plan_refresh(mine, connection);
    const std::string log = log_of([&] {
        BOOST_CHECK_THROW(
            service::refresh_claimed(mine, admin(), plan, connection, Uuid::v7(), Milliseconds(0)),
            db::DbError);
    });
    BOOST_TEST(holds(log, "level=error event=connection.tokens_lost provider=gitlab"));
    BOOST_TEST(!holds(log, kMark));
    BOOST_TEST(tokens(id) == "a0 r0");
}

BOOST_AUTO_TEST_CASE(metrics_and_health_report_the_state_of_connections) {
    BOOST_TEST(holds(figures(), "muster_connections{status=\"connected\"} 0\n"));
    BOOST_TEST(holds(figures(), "muster_connection_refresh_overdue_seconds 0\n"));
    const auto id = connected();
    pending();
    const auto removed = connected();
    remove(removed);
    BOOST_TEST(holds(figures(), "muster_connections{status=\"connected\"} 1\n"));
    BOOST_TEST(holds(figures(), "muster_connections{status=\"pending\"} 1\n"));
    BOOST_TEST(holds(figures(), "muster_connections{status=\"revoked\"} 0\n"));
    BOOST_TEST(holds(figures(), "muster_connection_refresh_overdue_seconds 60\n"));
    set(id, "refresh_due_at", Timestamp::now() - 10 * kMinute + Milliseconds(5000));
    BOOST_TEST(service::connection_problem(mine).empty());
    set(id, "refresh_due_at", Timestamp::now() - 11 * kMinute);
    BOOST_TEST(holds(service::connection_problem(mine), "11 minutes"));
    all();
    BOOST_TEST(service::connection_problem(mine).empty());
}

// ---------------------------------------------------------------------------- the purge

BOOST_AUTO_TEST_CASE(authorizations_are_purged_an_hour_after_they_expire) {
    const auto put = [&](Timestamp expires_at) {
        const auto id = connected();
        set(id, "refresh_due_at", Timestamp::now() + kHour);
        client.execute(
            "INSERT INTO connection_authorizations (organization_id, connection_id, state_hash, "
            "session_id, verifier, redirect_uri, expires_at) VALUES (?, ?, ?, ?, 'v', 'u', ?)",
            acme, id, sha256(id.bytes()), SessionId::create(), expires_at);
    };
    put(Timestamp::now() - kHour);
    put(Timestamp::now() - kHour + kMinute);
    BOOST_TEST(service::purge_step(mine)["connection_authorizations"] == 1);
    BOOST_TEST(!service::purge_step(mine).any());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connection_authorizations") == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connections") == 2);
}

BOOST_AUTO_TEST_CASE(connections_that_were_never_connected_are_purged_after_seven_days) {
    const Timestamp edge = Timestamp::now() - 7 * kDay;
    const auto old = pending();
    const auto young = pending();
    const auto under_way = pending();
    const auto failed = pending();
    const auto standing = connected();
    const auto in_trouble = connected();
    for (const auto& id : {old, under_way, failed, standing, in_trouble})
        set(id, "updated_at", edge);
    set(young, "updated_at", edge + kMinute);
    set(failed, "status", "error");
    set(standing, "status", "pending");
    set(standing, "refresh_due_at", db::Param());
    set(in_trouble, "status", "error");
    client.execute(
        "INSERT INTO connection_authorizations (organization_id, connection_id, state_hash, "
        "session_id, verifier, redirect_uri, expires_at) VALUES (?, ?, ?, ?, 'v', 'u', ?)",
        acme, under_way, sha256("state"), SessionId::create(), Timestamp::now());
    BOOST_TEST(service::purge_step(mine)["pending_connections"] == 2);
    BOOST_TEST(!service::purge_step(mine).any());
    BOOST_TEST(!is_there(old));
    BOOST_TEST(!is_there(failed));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connections") == 4);
}

BOOST_AUTO_TEST_SUITE_END()
