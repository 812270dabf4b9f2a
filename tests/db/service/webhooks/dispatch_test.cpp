// service/webhooks/dispatch.hpp: queued events reach real receivers, signed, at least once, and no
// endpoint delays another.
#include "service/webhooks/dispatch.hpp"

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "db/webhook_fixture.hpp"
#include "jobs/kinds.hpp"
#include "service/operations/monitoring.hpp"
#include "unit/base/logged.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

using namespace muster;
using test::LoopbackServer;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

// Accepts webhooks, stores them, and sends the configured reply.
class Receiver {
  public:
    explicit Receiver(ServedResponse answer = {}) : answer_(std::move(answer)) {}

    std::string url() const { return server_.url() + "/hook?key=hush"; }
    std::vector<ServedRequest> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return requests_.size();
    }
    std::vector<std::string> ids() const {
        std::vector<std::string> all;
        for (const ServedRequest& request : requests()) {
            all.push_back(request.headers.at("webhook-id"));
        }
        return all;
    }
    void answer(ServedResponse with) {
        const std::lock_guard lock(mutex_);
        answer_ = std::move(with);
    }

  private:
    ServedResponse take(const ServedRequest& request) {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
        return answer_;
    }

    mutable std::mutex mutex_;
    std::vector<ServedRequest> requests_;
    ServedResponse answer_;
    LoopbackServer server_{[this](const ServedRequest& request) { return take(request); }};
};

// Accepts webhooks and does not reply during its lifetime.
class Hanging {
  public:
    ~Hanging() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }
    std::string url() const { return server_->url(); }
    int taken() const { return taken_; }

  private:
    ServedResponse take() {
        ++taken_;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return over_; });
        ServedResponse response;
        response.hang_up = true;
        return response;
    }

    std::atomic<int> taken_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::shared_ptr<LoopbackServer> server_ =
        std::make_shared<LoopbackServer>([this](const ServedRequest&) { return take(); });
};

std::string logged(const std::function<void()>& work) {
    set_log_level(LogLevel::Info);
    std::string log = test::logged(work);
    set_log_level(LogLevel::Error);
    return log;
}

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

ServedResponse answering(int status, std::string body = "{}") {
    ServedResponse response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

struct Round : test::WebhookFixture {
    // Until no delivery is due.
    [[nodiscard]] bool deliver_all(WebhookRunner& courier) {
        return courier.work_until([&] {
            return client.number(
                       "SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending' "
                       "AND (due_at <= ? OR lease_owner IS NOT NULL)",
                       Timestamp::now()) == 0;
        });
    }
    std::string signature(const ServedRequest& request, const Secret& with) {
        const auto key = from_base64(with.reveal().substr(6));
        return "v1," + to_base64(hmac_sha256(*key, request.headers.at("webhook-id") + "." +
                                                       request.headers.at("webhook-timestamp") +
                                                       "." + request.body));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_dispatch, Round)

// ---------------------------------------------------------------------------- requests

BOOST_AUTO_TEST_CASE(an_event_is_sent_signed_with_its_id_and_the_time_of_the_attempt) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    const auto id = queue(to).at(0);
    WebhookRunner courier;
    BOOST_REQUIRE(deliver_all(courier));
    const auto requests = receiver.requests();
    BOOST_REQUIRE(requests.size() == 1U);
    BOOST_TEST(requests[0].method == "POST");
    BOOST_TEST(requests[0].body == client.value("SELECT body FROM webhook_events"));
    BOOST_TEST(requests[0].headers.at("webhook-id") ==
               "msg_" + client.value("SELECT LOWER(HEX(id)) FROM webhook_events"));
    BOOST_TEST(requests[0].headers.at("webhook-signature") == signature(requests[0], secret));
    const auto sent = std::stoll(requests[0].headers.at("webhook-timestamp"));
    BOOST_TEST(std::abs(sent - Timestamp::now().milliseconds() / 1000) <= 10);
    BOOST_TEST(status(id) == "succeeded");
    BOOST_TEST(count("webhook_attempts") == 1);
}

BOOST_AUTO_TEST_CASE(a_second_attempt_has_the_same_id) {
    Receiver receiver(answering(503, "busy"));
    const auto to = endpoint(receiver.url());
    const auto id = queue(to).at(0);
    WebhookRunner courier;
    BOOST_REQUIRE(deliver_all(courier));
    BOOST_TEST(status(id) == "pending");
    BOOST_TEST(client.value("SELECT excerpt FROM webhook_attempts") == "busy");
    BOOST_TEST(client.value("SELECT class FROM webhook_attempts") == "http_5xx");
    receiver.answer(answering(200));
    make_due();
    BOOST_REQUIRE(deliver_all(courier));
    const auto ids = receiver.ids();
    BOOST_REQUIRE(ids.size() == 2U);
    BOOST_TEST(ids[0] == ids[1]);
    BOOST_TEST(status(id) == "succeeded");
    BOOST_TEST(cell(to, "failing_since") == "NULL");
}

BOOST_AUTO_TEST_CASE(both_secrets_sign_during_the_overlap_and_one_afterwards) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    const Secret before = rules::create_endpoint_secret();
    const auto put = [&](Timestamp until) {
        client.execute(
            "UPDATE webhook_endpoints SET previous_secret = ?, "
            "previous_secret_until = ? WHERE id = ?",
            context.keys.seal(before.reveal(), rules::endpoint_seal_name(to)), until, to);
    };
    WebhookRunner courier;
    put(Timestamp::now() + Milliseconds(60'000));
    queue(to);
    BOOST_REQUIRE(deliver_all(courier));
    put(Timestamp::now());
    queue(to);
    BOOST_REQUIRE(deliver_all(courier));
    const auto requests = receiver.requests();
    BOOST_REQUIRE(requests.size() == 2U);
    BOOST_TEST(requests[0].headers.at("webhook-signature") ==
               signature(requests[0], secret) + " " + signature(requests[0], before));
    BOOST_TEST(requests[1].headers.at("webhook-signature") == signature(requests[1], secret));
}

BOOST_AUTO_TEST_CASE(three_secrets_sign_after_a_second_rotation) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    const Secret previous = rules::create_endpoint_secret();
    const Secret older = rules::create_endpoint_secret();
    const std::string seal = rules::endpoint_seal_name(to);
    const Timestamp now = Timestamp::now();
    client.execute(
        "UPDATE webhook_endpoints SET previous_secret = ?, previous_secret_until = ?, "
        "older_secret = ?, older_secret_until = ? WHERE id = ?",
        context.keys.seal(previous.reveal(), seal), now + Milliseconds(90'000),
        context.keys.seal(older.reveal(), seal), now + Milliseconds(60'000), to);
    WebhookRunner courier;
    queue(to);
    BOOST_REQUIRE(deliver_all(courier));
    const auto requests = receiver.requests();
    BOOST_REQUIRE(requests.size() == 1U);
    BOOST_TEST(requests[0].headers.at("webhook-signature") ==
               signature(requests[0], secret) + " " + signature(requests[0], previous) + " " +
                   signature(requests[0], older));
}

BOOST_AUTO_TEST_CASE(the_log_reports_failures_without_secrets) {
    Receiver receiver(answering(500, "the body"));
    const auto to = endpoint(receiver.url());
    queue(to);
    WebhookRunner courier;
    const std::string log = logged([&] { BOOST_TEST(deliver_all(courier)); });
    BOOST_TEST(holds(log, "level=info event=webhook.failed"));
    BOOST_TEST(holds(log, "class=http_5xx"));
    for (const char* part : {"hush", "the body", "whsec_", "member.created"}) {
        BOOST_TEST(!holds(log, part), part);
    }
}

BOOST_AUTO_TEST_CASE(an_unreadable_secret_uses_no_attempt_and_is_logged_once) {
    Receiver receiver;
    const auto first = endpoint(receiver.url());
    const auto second = endpoint(receiver.url());
    set(first, "secret", "'x'");
    set(second, "secret", "'x'");
    queue(first);
    queue(second);
    const auto fine = endpoint(receiver.url());
    queue(fine);
    WebhookRunner courier;
    const std::string log = logged([&] {
        BOOST_TEST(courier.work_until([&] { return deliveries(fine, "succeeded") == 1; }));
    });
    BOOST_TEST(log.find("webhook.secret_unreadable") == log.rfind("webhook.secret_unreadable"));
    BOOST_TEST(holds(log, "webhook.secret_unreadable"));
    BOOST_TEST(client.number("SELECT SUM(step) FROM webhook_deliveries WHERE status='pending'") ==
               0);
    BOOST_TEST(receiver.size() == 1U);
}

// ---------------------------------------------------------------------------- isolation

BOOST_AUTO_TEST_CASE(a_long_queue_of_one_endpoint_does_not_delay_another) {
    Receiver busy;
    Receiver other;
    const auto crowded = endpoint(busy.url());
    queue(crowded, 5000);
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] { return busy.size() > 10; }));
    const auto quick = endpoint(other.url());
    queue(quick);
    const Timestamp began = Timestamp::now();
    BOOST_REQUIRE(courier.work_until([&] { return other.size() == 1; }));
    BOOST_TEST((Timestamp::now() - began).count() < 1000);
    BOOST_TEST(busy.size() < 5000U);
}

BOOST_AUTO_TEST_CASE(unresponsive_endpoints_leave_connections_to_the_others) {
    Hanging hanging;
    Receiver receiver;
    std::vector<EndpointId> dead;
    for (int i = 0; i < 20; ++i) {
        dead.push_back(endpoint(hanging.url()));
        set(dead.back(), "failing_since", "1");
        queue(dead.back(), 20);
    }
    WebhookRunner courier(8, 4);
    BOOST_REQUIRE(courier.work_until([&] { return hanging.taken() == 4; }));
    const auto fine = endpoint(receiver.url());
    queue(fine, 200);
    BOOST_REQUIRE(courier.work_until([&] { return receiver.size() == 200; }));
    BOOST_TEST(hanging.taken() == 4);
    BOOST_TEST(courier.dispatch->in_flight() >= 4U);
}

BOOST_AUTO_TEST_CASE(a_paused_endpoint_keeps_its_deliveries_until_it_is_resumed) {
    Receiver receiver;
    const auto paused = endpoint(receiver.url());
    const auto fine = endpoint(receiver.url());
    set(paused, "status", "'paused'");
    queue(paused, 3);
    queue(fine);
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] { return deliveries(fine, "succeeded") == 1; }));
    BOOST_TEST(deliveries(paused, "pending") == 3);
    set(paused, "status", "'active'");
    BOOST_REQUIRE(courier.work_until([&] { return deliveries(paused, "succeeded") == 3; }));
}

BOOST_AUTO_TEST_CASE(deliveries_of_a_disabled_endpoint_or_installation_are_canceled) {
    Receiver receiver;
    const auto disabled = endpoint(receiver.url());
    const auto uninstalled = endpoint(acme, install(acme, "news"), receiver.url());
    set(disabled, "status", "'disabled'");
    client.execute("UPDATE module_installations SET status = 'disabled' WHERE id <> ?",
                   installation);
    queue(disabled, 2500);
    queue(uninstalled, 3);
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] {
        return deliveries(disabled, "canceled") == 2500 && deliveries(uninstalled, "canceled") == 3;
    }));
    BOOST_TEST(receiver.size() == 0U);
    BOOST_TEST(count("webhook_attempts") == 0);
}

BOOST_AUTO_TEST_CASE(deliveries_that_are_not_due_are_canceled_within_seconds_too) {
    constexpr int kMany = 1'500;
    const auto disabled = endpoint("https://one.example/");
    const auto failing = endpoint("https://two.example/");
    const auto other = install(acme, "news");
    const auto uninstalled = endpoint(acme, other, "https://three.example/");
    const auto paused = endpoint(acme, other, "https://four.example/");
    const auto waiting = endpoint("https://five.example/");
    set(disabled, "status", "'disabled'");
    set(failing, "status", "'disabled'");
    set(failing, "failing_since", "1");
    set(paused, "status", "'paused'");
    client.execute("UPDATE module_installations SET status = 'disabled' WHERE id = ?", other);
    for (const auto& to : {disabled, failing, uninstalled, paused, waiting}) {
        queue(to, to == disabled ? kMany : 2);
    }
    client.execute("UPDATE webhook_deliveries SET due_at = ?",
                   Timestamp::now() + Milliseconds(3'600'000));
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until(
        [&] { return count("webhook_deliveries WHERE status = 'pending'") == 2; }));
    BOOST_TEST(deliveries(waiting, "pending") == 2);
    BOOST_TEST(deliveries(disabled, "canceled") == kMany);
    BOOST_TEST(count("webhook_attempts") == 0);
}

BOOST_AUTO_TEST_CASE(a_receiver_that_replies_410_gets_no_further_posts) {
    Receiver receiver(answering(410));
    const auto to = endpoint(receiver.url());
    queue(to, 1200);
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] { return deliveries(to, "canceled") == 1199; }));
    BOOST_TEST(receiver.size() == 1U);
    BOOST_TEST(cell(to, "disabled_reason") == "gone");
}

// ---------------------------------------------------------------------------- runners

BOOST_AUTO_TEST_CASE(two_runners_deliver_every_event_once) {
    Receiver receiver;
    const auto first = endpoint(receiver.url());
    const auto second = endpoint(receiver.url());
    queue(first, 400);
    queue(second, 400);
    test::in_parallel(2, [&](int) {
        WebhookRunner courier;
        test::Client own;
        const bool done = courier.work_until([&] {
            return own.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status='pending'") ==
                   0;
        });
        if (!done) throw std::runtime_error("some events were not delivered");
    });
    const auto ids = receiver.ids();
    BOOST_TEST(ids.size() == 800U);
    BOOST_TEST(std::set(ids.begin(), ids.end()).size() == 800U);
    BOOST_TEST(count("webhook_attempts") == 800);
    BOOST_TEST(client.number("SELECT COUNT(DISTINCT delivery_id) FROM webhook_attempts") == 800);
}

BOOST_AUTO_TEST_CASE(deliveries_of_a_crashed_runner_are_sent_by_the_next_after_the_lease) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    queue(to, 300);
    {
        WebhookRunner killed;
        BOOST_REQUIRE(killed.work_until([&] { return receiver.size() > 50; }));
    }
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] { return deliveries(to, "pending") < 40; }));
    make_due();
    BOOST_REQUIRE(courier.work_until([&] { return deliveries(to, "succeeded") == 300; }));
    const auto ids = receiver.ids();
    BOOST_TEST(std::set(ids.begin(), ids.end()).size() == 300U);
    BOOST_TEST(count("webhook_attempts") == 300);
}

BOOST_AUTO_TEST_CASE(a_stopping_run_waits_for_replies_and_releases_the_rest) {
    Hanging hanging;
    Receiver receiver;
    const auto stuck = endpoint(hanging.url());
    const auto fine = endpoint(receiver.url());
    queue(stuck, 3);
    queue(fine, 500);
    WebhookRunner courier;
    BOOST_REQUIRE(courier.work_until([&] { return hanging.taken() == 1 && receiver.size() > 20; }));
    const Timestamp began = Timestamp::now();
    courier.dispatch->finish([] { return Milliseconds(4'000); });
    const auto took = (Timestamp::now() - began).count();
    BOOST_TEST(took >= 3'500);
    BOOST_TEST(took < 6'000);
    BOOST_TEST(courier.dispatch->in_flight() == 0U);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending' "
                             "AND (due_at > ? OR lease_owner IS NOT NULL)",
                             Timestamp::now()) == 0);
    BOOST_TEST(deliveries(fine, "succeeded") == static_cast<std::int64_t>(receiver.size()));
    BOOST_TEST(client.number("SELECT MAX(step) FROM webhook_deliveries WHERE endpoint_id = ?",
                             stuck) == 0);
}

BOOST_AUTO_TEST_CASE(a_turn_of_the_runner_delivers_until_its_deadline) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    WebhookRunner courier;
    const auto work = jobs::webhook_work(courier.mine);
    const Timestamp began = Timestamp::now();
    auto running = std::async(std::launch::async,
                              [&] { return work.turn(jobs::Deadline(Milliseconds(2'000))); });
    queue(to);
    const bool arrived = test::until([&] { return receiver.size() == 1; });
    const auto took = (Timestamp::now() - began).count();
    BOOST_TEST(running.get());
    BOOST_TEST(arrived);
    BOOST_TEST(took < 1'000);
    BOOST_TEST(deliveries(to, "succeeded") == 1);
}

// ---------------------------------------------------------------------------- monitoring

BOOST_AUTO_TEST_CASE(metrics_and_health_report_waiting_webhooks) {
    Receiver receiver;
    const auto to = endpoint(receiver.url());
    BOOST_TEST(holds(service::job_metrics(context), "muster_webhook_pending 0\n"));
    BOOST_TEST(holds(service::job_metrics(context), "muster_webhook_queue_age_seconds 0\n"));
    queue(to, 2);
    BOOST_TEST(service::webhook_problem(context) == "");
    client.run("UPDATE webhook_deliveries SET due_at = due_at - 181000 LIMIT 1");
    const std::string figures = service::job_metrics(context);
    BOOST_TEST(holds(figures, "muster_webhook_pending 2\n"));
    BOOST_TEST(holds(figures, "muster_webhook_queue_age_seconds 181\n"));
    BOOST_TEST(
        holds(service::webhook_problem(context), "webhooks have been waiting for 3 minutes"));
    set(to, "failing_since", "1");  // that is a problem of the receiver
    BOOST_TEST(service::webhook_problem(context) == "");
    set(to, "failing_since", "NULL");
    set(to, "status", "'paused'");
    BOOST_TEST(service::webhook_problem(context) == "");
    BOOST_TEST(holds(service::job_metrics(context), "muster_webhook_queue_age_seconds 0\n"));
    set(to, "status", "'active'");
    WebhookRunner courier;
    BOOST_REQUIRE(deliver_all(courier));
    BOOST_TEST(
        holds(service::job_metrics(context), "muster_webhook_attempts_total{class=\"2xx\"} 2\n"));
}

BOOST_AUTO_TEST_SUITE_END()
