// service/webhooks/dispatch.hpp while the database is away: replies are read in time, and each
// result is recorded once when the database is back.
#include "db/lossy_server.hpp"
#include "db/webhook_fixture.hpp"
#include "jobs/kinds.hpp"
#include "unit/base/logged.hpp"
#include "unit/client/loopback_server.hpp"

#include "print.hpp"

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

using namespace muster;
using test::LossyServer;
using test::ServedRequest;
using test::ServedResponse;
using test::WebhookRunner;

namespace {

constexpr Milliseconds kRun{5'000};

// Accepts webhooks, and replies once it is open.
class HeldReceiver {
  public:
    explicit HeldReceiver(int status = 200) : status_(status) {}
    ~HeldReceiver() { open(); }

    std::string url() const { return server_->url(); }
    int taken() const { return taken_; }
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

  private:
    ServedResponse take() {
        ++taken_;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_open_; });
        ServedResponse response;
        response.status = status_;
        return response;
    }

    int status_;
    std::atomic<int> taken_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
    std::shared_ptr<test::LoopbackServer> server_ =
        std::make_shared<test::LoopbackServer>([this](const ServedRequest&) { return take(); });
};

db::ConnectionSettings through(const LossyServer& server) {
    auto settings = test::connection_settings();
    settings.urls = {server.url()};
    return settings;
}

struct Outage : test::WebhookFixture {
    // Queues an event and runs until the receiver has it.
    EndpointId sent_to(const HeldReceiver& receiver) {
        const auto to = endpoint(receiver.url());
        queue(to);
        BOOST_REQUIRE(runner.work_until([&] { return receiver.taken() == 1; }));
        return to;
    }
    // Runs steps that may fail until the condition holds; false after ten seconds.
    [[nodiscard]] bool try_until(const std::function<bool()>& condition) {
        return test::until([&] {
            if (condition()) return true;
            if (test::kind_of([&] { runner.dispatch->step(); })) ++failed;
            return condition();
        });
    }

    LossyServer server;
    WebhookRunner runner{32, 4, through(server)};
    int failed = 0;  // steps
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_outage, Outage)

BOOST_AUTO_TEST_CASE(a_step_that_fails_reads_replies) {
    HeldReceiver receiver;
    sent_to(receiver);
    server.go_away();
    receiver.open();
    const bool was_read = try_until([&] {
        // A look into the outbox is due at the next step.
        const auto end = std::chrono::steady_clock::now() + Milliseconds(60);
        return test::until([&] { return std::chrono::steady_clock::now() > end; }) &&
               runner.dispatch->in_flight() == 0;
    });
    BOOST_TEST(was_read);
    BOOST_TEST(failed > 0);
}

// The duration of an attempt ends when the reply is read.
BOOST_AUTO_TEST_CASE(a_reply_is_read_while_the_runner_pauses_after_a_failed_turn) {
    HeldReceiver receiver;
    const auto to = endpoint(receiver.url());
    queue(to);
    const std::string log = test::logged([&] {
        auto running = std::async(std::launch::async, [&] {
            return jobs::run({jobs::webhook_work(runner.mine)}, jobs::Deadline(kRun));
        });
        BOOST_TEST(test::until([&] { return receiver.taken() == 1; }));
        server.go_away();
        BOOST_TEST(test::until([&] { return server.refused() > 0; }));
        receiver.open();
        const int refused = server.refused();
        BOOST_TEST(test::until([&] { return server.refused() > refused + 1; }));
        server.come_back();
        BOOST_TEST(!running.get());
    });
    BOOST_TEST(log.find("runner.turn_failed") != log.npos);
    BOOST_TEST(deliveries(to, "succeeded") == 1);
    BOOST_TEST(receiver.taken() == 1);
    BOOST_TEST(client.column("SELECT class FROM webhook_attempts") ==
               std::vector<std::string>{"200"});
    BOOST_TEST(client.number("SELECT duration_ms FROM webhook_attempts") < 1'000);
}

BOOST_AUTO_TEST_CASE(a_result_is_recorded_before_a_claim_whose_lease_ended_in_the_outage) {
    HeldReceiver receiver;
    const auto to = sent_to(receiver);
    server.go_away();
    receiver.open();
    BOOST_TEST(try_until([&] { return failed > 0 && runner.dispatch->in_flight() == 0; }));
    make_due();
    server.come_back();
    BOOST_TEST(try_until([&] { return deliveries(to, "succeeded") == 1; }));
    BOOST_TEST(try_until([&] { return runner.dispatch->in_flight() == 0; }));
    BOOST_TEST(receiver.taken() == 1);
    BOOST_TEST(count("webhook_attempts") == 1);
}

BOOST_AUTO_TEST_CASE(a_result_whose_commit_is_not_acknowledged_is_recorded_once) {
    HeldReceiver receiver(500);
    const auto to = sent_to(receiver);
    server.lose("COMMIT");
    receiver.open();
    BOOST_TEST(try_until([&] { return server.has_lost(); }));
    BOOST_TEST(test::until([&] { return count("webhook_attempts") == 1; }));
    make_due();
    BOOST_TEST(try_until([&] { return count("webhook_attempts") == 2; }));
    BOOST_TEST(failed == 1);
    BOOST_TEST(receiver.taken() == 2);
    BOOST_TEST(client.number("SELECT step FROM webhook_deliveries WHERE endpoint_id = ?", to) == 2);
}

BOOST_AUTO_TEST_CASE(a_stopping_run_waits_for_the_database_to_record_its_results) {
    HeldReceiver receiver;
    const auto to = sent_to(receiver);
    server.go_away();
    receiver.open();
    auto ending = std::async(std::launch::async,
                             [&] { runner.dispatch->finish([] { return Milliseconds(8'000); }); });
    const bool was_refused = test::until([&] { return server.refused() > 0; });
    server.come_back();
    BOOST_CHECK_NO_THROW(ending.get());
    BOOST_TEST(was_refused);
    BOOST_TEST(deliveries(to, "succeeded") == 1);
    BOOST_TEST(count("webhook_attempts") == 1);
}

BOOST_AUTO_TEST_CASE(a_run_without_a_database_ends_in_time) {
    HeldReceiver receiver;
    const auto to = sent_to(receiver);
    server.go_away();
    const auto began = std::chrono::steady_clock::now();
    BOOST_CHECK_THROW(runner.dispatch->finish([] { return Milliseconds(1'500); }), db::DbError);
    BOOST_TEST((std::chrono::steady_clock::now() - began < std::chrono::seconds(5)));
    BOOST_TEST(runner.dispatch->in_flight() == 0U);
    BOOST_TEST(deliveries(to, "pending") == 1);
}

BOOST_AUTO_TEST_SUITE_END()
