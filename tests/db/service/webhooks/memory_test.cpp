// service/webhooks/dispatch.hpp: large bodies of one organization fill a part of the runner's
// memory, and others are delivered meanwhile.
#include "service/webhooks/dispatch.hpp"

#include "db/webhook_fixture.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using test::LoopbackServer;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

// A quarter of 128 MiB, in events of 1 MiB.
constexpr int kMostHeld = 32;
constexpr int kEndpoints = 40;

// Counts requests, and answers them only on request.
struct Waiting {
    std::string url() const { return server.url(); }

    std::atomic<bool> answers{false};
    std::atomic<int> taken{0};
    LoopbackServer server{[this](const ServedRequest&) {
        ServedResponse response;
        response.hang = !answers;
        ++taken;
        return response;
    }};
};

struct Memory : test::WebhookFixture {
    // An event of its own for each of `kEndpoints` endpoints.
    void queue_large() {
        for (int i = 0; i < kEndpoints; ++i) queue(endpoint(receiver.url()));
        enlarge();
    }
    void enlarge() { client.run("UPDATE webhook_events SET body = REPEAT('x', 1048576)"); }
    Waiting receiver;
    WebhookRunner runner{64, 4};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_memory, Memory)

BOOST_AUTO_TEST_CASE(large_bodies_of_one_organization_leave_memory_to_another) {
    queue_large();
    BOOST_REQUIRE(runner.work_until([&] { return receiver.taken == kMostHeld; }));
    Waiting quick;
    quick.answers = true;
    const OrgId other = organization("Other");
    const auto theirs = endpoint(other, install(other), quick.url());
    queue(other, theirs);
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(theirs, "succeeded") == 1; }));
    BOOST_TEST(runner.dispatch->in_flight() == std::size_t{kMostHeld});
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending' "
                             "AND lease_owner IS NULL") == kEndpoints - kMostHeld);
}

BOOST_AUTO_TEST_CASE(memory_is_free_again_after_replies_and_after_interrupted_requests) {
    queue_large();
    BOOST_REQUIRE(runner.work_until([&] { return receiver.taken == kMostHeld; }));
    runner.dispatch->finish([] { return Milliseconds(0); });
    BOOST_REQUIRE(runner.work_until([&] { return receiver.taken == 2 * kMostHeld; }));
    runner.dispatch->finish([] { return Milliseconds(0); });
    receiver.answers = true;
    BOOST_TEST(runner.work_until(
        [&] { return count("webhook_deliveries WHERE status = 'succeeded'") == kEndpoints; }));
}

BOOST_AUTO_TEST_CASE(an_endpoint_gets_deliveries_at_the_same_time_although_a_claim_has_one_body) {
    const auto to = endpoint(receiver.url());
    receiver.answers = true;
    queue(to);
    BOOST_REQUIRE(runner.work_until([&] { return deliveries(to, "succeeded") == 1; }));
    receiver.answers = false;
    queue(to, 6);
    enlarge();
    BOOST_TEST(runner.work_until([&] { return runner.dispatch->in_flight() == 4U; }));
}

BOOST_AUTO_TEST_SUITE_END()
