// api/pipeline.hpp: the requests of a batch that create members are written together, and one
// address does not hold up the others.
#include "db/api/pipeline_fixture.hpp"
#include "db/service/collecting.hpp"

#include "print.hpp"

using namespace muster;
using http::Request;

namespace {

struct Creating : test::PipelineFixture {
    Request post(const std::string& email, const std::string& idempotency_key = "") const {
        const std::string body = R"({"email":")" + email + R"("})";
        Request made = request(http::Method::Post, "/v1/users", key);
        made.content_type = "application/json";
        made.content_length = body.size();
        made.idempotency_key = idempotency_key;
        made.has_idempotency_key = !idempotency_key.empty();
        made.read_body = [body](std::size_t) { return std::optional(body); };
        return made;
    }

    // The status of each reply; 0: the request was left. `requests` is then what was left.
    std::vector<int> statuses(std::vector<Request>& requests) {
        std::vector<int> found(requests.size());
        const auto note = [&](std::size_t index, const std::optional<http::Reply>& reply) {
            found.at(index) = reply.value().status;
        };
        std::vector<Request> left;
        for (const http::Deferral& one : pipeline.handle(requests, note)) {
            left.push_back(requests.at(one.index));
            left.back().deferral = one;
        }
        requests = std::move(left);
        return found;
    }

    service::IssuedKey key = issue(acme);
};

using Statuses = std::vector<int>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(creating, Creating)

BOOST_AUTO_TEST_CASE(a_batch_writes_two_requests_with_one_address_and_leaves_the_others) {
    std::vector<Request> requests(5, post("ann@x.test"));
    requests.push_back(post("bob@x.test"));
    BOOST_TEST(statuses(requests) == (Statuses{201, 200, 0, 0, 0, 201}));
    BOOST_TEST(statuses(requests) == (Statuses{200, 200, 0}));
    BOOST_TEST(statuses(requests) == (Statuses{200}));
}

BOOST_AUTO_TEST_CASE(a_batch_writes_two_transactions_of_addresses_and_keys_in_a_chain) {
    std::vector<Request> requests = {post("a@x.test", "k1"), post("a@x.test", "k2"),
                                     post("b@x.test", "k2"), post("b@x.test", "k3"),
                                     post("c@x.test", "k4")};
    BOOST_TEST(statuses(requests) == (Statuses{201, 200, 0, 0, 201}));
}

// On the connection of a collector, which does not wait for locks.
BOOST_AUTO_TEST_CASE(a_locked_key_fails_no_request) {
    db::Database impatient(test::collector_settings());
    service::Context collector{impatient, settings, KeyRing(Secret(std::string(32, 'k')))};
    api::Pipeline collecting{collector, metrics, limiter, concurrency, {}};
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM api_keys WHERE organization_id = ? AND id = ? FOR UPDATE", acme,
                 key.key.id);
    std::vector<int> found;
    const std::vector<Request> requests = {post("ann@x.test"), post("bob@x.test")};
    const auto deferred =
        collecting.handle(requests, [&](std::size_t, const std::optional<http::Reply>& reply) {
            found.push_back(reply.value().status);
        });
    client.run("ROLLBACK");
    BOOST_TEST(deferred.empty());
    BOOST_TEST(found == (Statuses{201, 201}));
}

BOOST_AUTO_TEST_CASE(a_worker_that_ends_leaves_no_request) {
    std::vector<Request> requests(4, post("ann@x.test"));
    for (Request& request : requests) request.may_wait = false;
    BOOST_TEST(statuses(requests) == (Statuses{201, 200, 200, 200}));
}

BOOST_AUTO_TEST_SUITE_END()
