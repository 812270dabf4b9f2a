// service/webhooks/dispatch.hpp: an answer of 410 is obeyed, also while another transaction holds
// the row of the endpoint.
#include "db/webhook_fixture.hpp"
#include "store/webhooks/endpoints.hpp"
#include "unit/base/logged.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

struct Gone : test::WebhookFixture {
    // Runs `work` while another transaction holds the row of the endpoint; then it sets the URL.
    template <class Work>
    void while_held(EndpointId id, const Work& work, const std::string& url = {}) {
        test::DatabaseContext other;
        other.database.transaction([&](db::Tx& tx) {
            db::OrgStore org(tx, acme);
            auto row = store::lock_webhook_endpoint(org, installation, id);
            BOOST_REQUIRE(row.has_value());
            work();
            if (url.empty()) return;
            row->url = url;
            store::write_webhook_endpoint(org, *row);
        });
    }

    std::atomic<int> posts{0};
    test::LoopbackServer gone{[this](const ServedRequest&) {
        ++posts;
        ServedResponse response;
        response.status = 410;
        return response;
    }};
    test::LoopbackServer fine{[](const ServedRequest&) { return ServedResponse{}; }};
    WebhookRunner runner;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_gone, Gone)

BOOST_AUTO_TEST_CASE(a_reply_of_gone_disables_a_held_endpoint_once_it_is_free) {
    const auto to = endpoint(gone.url());
    const auto other = endpoint(fine.url());
    const auto id = queue(to).at(0);
    const std::string log = test::logged([&] {
        while_held(to, [&] {
            BOOST_TEST(runner.work_until([&] { return posts == 1; }));
            queue(other);
            BOOST_TEST(runner.work_until([&] { return deliveries(other, "succeeded") == 1; }));
            BOOST_TEST(runner.work_until([&] { return runner.dispatch->in_flight() == 0; }));
            BOOST_TEST(status(id) == "pending");
        });
        BOOST_TEST(runner.work_until([&] { return cell(to, "status") == "disabled"; }));
    });
    BOOST_TEST(log.find("lease_lost") == log.npos);
    BOOST_TEST(cell(to, "disabled_reason") == "gone");
    BOOST_TEST(status(id) == "failed");
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_attempts WHERE delivery_id = ?", id) ==
               1);
    BOOST_TEST(posts == 1);
}

BOOST_AUTO_TEST_CASE(a_reply_of_gone_from_a_replaced_url_does_not_disable_the_endpoint) {
    const auto to = endpoint(gone.url());
    queue(to);
    while_held(
        to, [&] { BOOST_TEST(runner.work_until([&] { return posts == 1; })); }, fine.url());
    BOOST_TEST(runner.work_until([&] { return deliveries(to, "failed") == 1; }));
    BOOST_TEST(cell(to, "status") == "active");
    queue(to);
    BOOST_TEST(runner.work_until([&] { return deliveries(to, "succeeded") == 1; }));
}

BOOST_AUTO_TEST_CASE(a_run_that_ends_before_leaves_the_delivery_to_the_next) {
    const auto to = endpoint(gone.url());
    const auto id = queue(to).at(0);
    while_held(to, [&] {
        BOOST_TEST(runner.work_until([&] { return posts == 1; }));
        runner.dispatch->finish([] { return Milliseconds(0); });
        BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE lease_owner IS "
                                 "NOT NULL") == 0);
    });
    BOOST_TEST(status(id) == "pending");
    WebhookRunner next;
    BOOST_TEST(next.work_until([&] { return cell(to, "status") == "disabled"; }));
    BOOST_TEST(posts == 2);
}

BOOST_AUTO_TEST_SUITE_END()
