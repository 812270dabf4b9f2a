// The pauses of a running process keep their lengths when the wall clock is set.
#include "db/clock.hpp"
#include "db/connections.hpp"
#include "db/webhook_fixture.hpp"
#include "jobs/kinds.hpp"
#include "service/connections/refresher.hpp"
#include "service/outbox.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using test::ClockChange;
using test::ServedRequest;
using test::ServedResponse;
using SteadyClock = std::chrono::steady_clock;

namespace {

constexpr Milliseconds kBack{-10'000};
constexpr Milliseconds kForward{61'000};
// Less than kBack, and more than any pause here.
constexpr Milliseconds kSoon{5'000};

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_changes)

BOOST_FIXTURE_TEST_CASE(webhooks_are_sent_at_once_after_the_clock_was_set_back,
                        test::WebhookFixture) {
    std::atomic<int> requests{0};
    const test::LoopbackServer server([&](const ServedRequest&) {
        ++requests;
        return ServedResponse{};
    });
    const auto to = endpoint(server.url());
    queue(to);
    test::WebhookRunner runner;
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(to, "succeeded") == 1; }));
    const ClockChange change(kBack);
    // One is due, and one waits in the outbox.
    queue(to);
    set(to, "created_at", "1");
    as(acme, [&](service::OrgTransaction& transaction) {
        service::emit(transaction, {"member.created", std::nullopt, [] { return "{}"; }});
    });
    const auto began = SteadyClock::now();
    BOOST_TEST(runner.work_until([&] { return deliveries(to, "succeeded") == 3; }));
    BOOST_TEST((SteadyClock::now() - began < kSoon));
    BOOST_TEST(requests == 3);
}

BOOST_FIXTURE_TEST_CASE(connections_are_refreshed_at_once_after_the_clock_was_set_back,
                        test::ConnectionFixture) {
    const auto work = jobs::connection_work(mine, std::make_shared<service::ProviderLimits>());
    const jobs::Deadline deadline(Milliseconds(60'000));
    BOOST_TEST(!work.turn(deadline));
    const ClockChange change(kBack);
    connected();
    const auto began = SteadyClock::now();
    BOOST_TEST(test::until([&] { return work.turn(deadline); }));
    BOOST_TEST((SteadyClock::now() - began < kSoon));
}

BOOST_AUTO_TEST_CASE(an_unreachable_provider_is_avoided_after_the_clock_was_set_forward) {
    service::ProviderLimits limits;
    service::ProviderPermit(limits, "dead").mark_unreachable();
    const ClockChange change(kForward);
    BOOST_TEST(limits.skipped() == std::vector<std::string>{"dead"});
    BOOST_TEST(!service::ProviderPermit(limits, "dead").is_allowed());
}

BOOST_FIXTURE_TEST_CASE(a_connection_in_use_is_not_tested_because_the_clock_was_set_forward,
                        test::Fixture) {
    // Tests of a connection are among them.
    static constexpr db::SystemSql kCommands{"test.commands",
                                             db::Why{"a test looks at its own session"},
                                             "SHOW SESSION STATUS LIKE 'Com_admin_commands'"};
    const auto commands = [&] {
        return database.autocommit([](db::Tx& tx) {
            auto rows = tx.query(kCommands);
            return rows.next() ? rows.bytes(2) : "";
        });
    };
    const std::string before = commands();
    const ClockChange change(kForward);
    BOOST_TEST(commands() == before);
}

BOOST_AUTO_TEST_SUITE_END()
