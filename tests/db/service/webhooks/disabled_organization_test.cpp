// service/webhooks/dispatch.hpp: webhooks of a disabled organization wait until it is enabled.
#include "service/webhooks/dispatch.hpp"

#include "db/webhook_fixture.hpp"
#include "service/organization/status.hpp"
#include "service/outbox.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using test::LoopbackServer;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

struct DisabledOrganization : test::WebhookFixture {
    void emit(OrgId organization) {
        as(organization, [](service::OrgTransaction& transaction) {
            service::emit(transaction,
                          {"member.created", std::nullopt, [] { return std::string("{}"); }});
        });
    }
    std::int64_t leased() {
        return client.number(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE lease_owner IS NOT NULL");
    }

    std::atomic<int> received{0};
    LoopbackServer receiver{[this](const ServedRequest&) {
        ++received;
        return ServedResponse{};
    }};
    WebhookRunner runner;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_disabled_organization, DisabledOrganization)

// The runner claims new deliveries of the outbox without looking for due endpoints.
BOOST_AUTO_TEST_CASE(events_of_a_disabled_organization_are_sent_when_it_is_enabled) {
    const auto other = organization("Other");
    const auto stopped = endpoint(receiver.url());
    const auto fine = endpoint(other, install(other), receiver.url());
    BOOST_TEST(service::disable_organization(context, acme));
    emit(acme);
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(stopped, "pending") == 1; }));
    emit(other);
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(fine, "succeeded") == 1; }));
    BOOST_TEST(received.load() == 1);
    BOOST_TEST(deliveries(stopped, "pending") == 1);
    BOOST_TEST(service::enable_organization(context, acme));
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(stopped, "succeeded") == 1; }));
    BOOST_TEST(received.load() == 2);
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_being_sent_waits_while_its_organization_is_disabled) {
    constexpr int kMany = 3'000;
    const auto to = endpoint(receiver.url());
    queue(to, kMany);
    BOOST_REQUIRE(runner.work_until([&] { return received > 50; }));
    BOOST_TEST(service::disable_organization(context, acme));
    BOOST_REQUIRE(
        runner.work_until([&] { return runner.dispatch->in_flight() == 0 && leased() == 0; }));
    const int sent = received;
    BOOST_TEST(sent < kMany);
    for (int i = 0; i < 5; ++i) runner.dispatch->step();
    BOOST_TEST(received.load() == sent);
    BOOST_TEST(deliveries(to, "pending") == kMany - sent);
    BOOST_TEST(service::enable_organization(context, acme));
    BOOST_REQUIRE(runner.work_until([&] { return received > sent; }));
}

BOOST_AUTO_TEST_SUITE_END()
