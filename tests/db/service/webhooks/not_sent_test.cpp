// service/webhooks/dispatch.hpp: a request that cannot start loses neither its delivery nor its
// connection, and does not stop other deliveries.
#include "base/log.hpp"
#include "db/failing_allocation.hpp"
#include "db/webhook_fixture.hpp"
#include "net/webhooks/transfer.hpp"
#include "unit/base/logged.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

struct NotSent : test::WebhookFixture {
    void seal(EndpointId id, const Secret& with) {
        client.execute("UPDATE webhook_endpoints SET secret = ? WHERE id = ?",
                       context.keys.seal(with.reveal(), rules::endpoint_seal_name(id)), id);
    }

    std::int64_t failed_internally(EndpointId id) {
        return client.number(
            "SELECT COUNT(*) FROM webhook_attempts a JOIN webhook_deliveries d "
            "ON d.id = a.delivery_id WHERE d.endpoint_id = ? AND a.class = 'internal'",
            id);
    }
    std::int64_t waiting_later(EndpointId id) {
        return client.number(
            "SELECT COUNT(*) FROM webhook_deliveries WHERE endpoint_id = ? AND status = 'pending' "
            "AND step = 1 AND lease_owner IS NULL AND due_at > ?",
            id, Timestamp::now());
    }

    std::atomic<int> requests{0};
    test::LoopbackServer server{[this](const ServedRequest&) {
        ++requests;
        return ServedResponse{};
    }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_not_sent, NotSent)

BOOST_AUTO_TEST_CASE(an_endpoint_with_an_invalid_secret_fails_internally_and_is_retried) {
    const auto odd = endpoint(server.url());
    const auto fine = endpoint(server.url());
    seal(odd, Secret("no secret of an endpoint"));
    queue(odd, 2);
    queue(fine);
    const std::string log = test::logged([&] {
        WebhookRunner runner;
        BOOST_TEST(runner.work_until(
            [&] { return deliveries(fine, "succeeded") == 1 && failed_internally(odd) == 2; }));
        runner.dispatch->finish([] { return Milliseconds(0); });
    });
    BOOST_TEST(log.find("level=error event=webhook.not_sent endpoint=" + odd.text()) != log.npos);
    BOOST_TEST(requests == 1);
    BOOST_TEST(waiting_later(odd) == 2);
    BOOST_TEST(cell(odd, "failing_since") == "NULL");
    seal(odd, secret);
    make_due();
    WebhookRunner next;
    BOOST_TEST(next.work_until([&] { return deliveries(odd, "succeeded") == 2; }));
}

BOOST_AUTO_TEST_CASE(a_request_without_memory_is_retried_and_does_not_stop_the_next) {
    const auto to = endpoint(server.url());
    queue(to);
    WebhookRunner runner;
    const std::string log = test::logged([&] {
        const test::FailingAllocation failing(sizeof(net::WebhookTransfer));
        BOOST_TEST(runner.work_until([&] { return failing.has_failed(); }));
    });
    BOOST_TEST(log.find("level=error event=webhook.not_sent endpoint=" + to.text()) != log.npos);
    BOOST_TEST(runner.dispatch->in_flight() == 0U);
    queue(to);
    BOOST_TEST(runner.work_until([&] { return deliveries(to, "succeeded") == 1; }));
    BOOST_TEST(requests == 1);
    BOOST_TEST(failed_internally(to) == 1);
    BOOST_TEST(waiting_later(to) == 1);
    make_due();
    BOOST_TEST(runner.work_until([&] { return deliveries(to, "succeeded") == 2; }));
}

BOOST_AUTO_TEST_SUITE_END()
