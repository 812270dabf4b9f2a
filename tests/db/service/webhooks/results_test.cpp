// service/webhooks/results.hpp, service/webhooks/disabling.hpp: how results of attempts are stored,
// and the effects of disabling an endpoint.
#include "service/webhooks/results.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "db/webhook_fixture.hpp"
#include "service/webhooks/disabling.hpp"
#include "store/webhooks/endpoints.hpp"
#include "store/webhooks/queue.hpp"

#include "print.hpp"

#include <algorithm>
#include <future>

using namespace muster;
using service::AttemptResult;
using service::record_attempts;

namespace {

constexpr std::int64_t kDay = 24L * 3600 * 1000;

struct Ledger : test::WebhookFixture {
    // Claims everything due for the endpoint, under the lease of this owner.
    std::vector<store::ClaimedDelivery> claim(EndpointId id, const Uuid& by, int limit = 1000) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            db::OrgStore org(transaction.tx, acme);
            return store::claim_deliveries(org, id, by, transaction.now,
                                           transaction.now + Milliseconds(60'000), {limit, 1 << 20})
                .deliveries;
        });
    }
    AttemptResult result(EndpointId id, const store::ClaimedDelivery& of, std::string outcome,
                         std::optional<int> status = {}) {
        AttemptResult made;
        made.url = cell(id, "url");
        made.organization = acme;
        made.endpoint = id;
        made.delivery = of.id;
        made.made = of.step + 1;
        made.began = Timestamp::now();
        made.outcome = std::move(outcome);
        made.status = status;
        made.duration = Milliseconds(12);
        made.random = 0.5;
        return made;
    }
    // One more delivery, with that outcome.
    DeliveryId deliver(EndpointId id, const std::string& outcome, std::optional<int> status = {}) {
        queue(id);
        const auto claimed = claim(id, owner, 1);
        const AttemptResult made = result(id, claimed.at(0), outcome, status);
        record_attempts(context, owner, {&made, 1});
        return claimed.at(0).id;
    }
    // Sends the delivery again, so long after its creation, and records an attempt that failed.
    // `step`: the number of attempts since it was sent again.
    void send_again(EndpointId id, DeliveryId delivery, Milliseconds later, int step = 0) {
        client.execute(
            "UPDATE webhook_deliveries SET status = 'pending', step = ?, due_at = 1, "
            "lease_owner = NULL WHERE id = ?",
            step, delivery);
        AttemptResult made = result(id, claim(id, owner, 1).at(0), "http_5xx", 500);
        made.began = Timestamp::now() + later;
        record_attempts(context, owner, {&made, 1});
    }
    std::int64_t due_in(DeliveryId id) {
        return client.number("SELECT due_at FROM webhook_deliveries WHERE id = ?", id) -
               Timestamp::now().milliseconds();
    }
    std::vector<std::string> addressees() {
        std::vector<std::string> all;
        for (auto rows = client.query("SELECT id, content FROM mail_outbox"); rows.next();) {
            Json::Value mail;
            const auto text =
                context.keys.open(rows.bytes(2), rules::mail_seal_name(rows.id<MailId>(1)));
            BOOST_REQUIRE(parse_json(text.value().reveal(), mail));
            all.push_back(mail["to"].asString());
            last_mail = mail["text"].asString();
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    const Uuid owner = Uuid::v7();
    std::string last_mail;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_results, Ledger)

BOOST_AUTO_TEST_CASE(a_successful_delivery_is_stored_with_its_attempt) {
    const auto to = endpoint("https://one.example/");
    const auto id = deliver(to, "204", 204);
    BOOST_TEST(status(id) == "succeeded");
    BOOST_TEST(client.value("SELECT due_at FROM webhook_deliveries") == "NULL");
    BOOST_TEST(client.value("SELECT lease_owner FROM webhook_deliveries") == "NULL");
    BOOST_TEST(client.value("SELECT class FROM webhook_attempts") == "204");
    BOOST_TEST(client.number("SELECT duration_ms FROM webhook_attempts") == 12);
    BOOST_TEST(client.value("SELECT excerpt FROM webhook_attempts") == "NULL");
    BOOST_TEST(cell(to, "failing_since") == "NULL");
    BOOST_TEST(client.number("SELECT attempts FROM webhook_attempt_totals WHERE class='2xx'") == 1);
}

BOOST_AUTO_TEST_CASE(the_results_of_an_endpoint_are_counted_by_hour) {
    const auto to = endpoint("https://one.example/");
    const auto other = endpoint("https://two.example/");
    const auto counts = [&](EndpointId id) {
        return client.value(
            "SELECT CONCAT(SUM(succeeded), ' ', SUM(failed), ' ', SUM(failed_attempts), ' ', "
            "MAX(last_succeeded_at) IS NOT NULL) FROM webhook_endpoint_hours WHERE endpoint_id = ?",
            id);
    };
    deliver(to, "http_5xx", 503);
    BOOST_TEST(counts(to) == "0 0 1 0");
    deliver(to, "204", 204);
    deliver(to, "200", 200);
    BOOST_TEST(counts(to) == "2 0 1 1");
    deliver(other, "http_4xx", 410);
    BOOST_TEST(counts(other) == "0 1 1 0");
    BOOST_TEST(counts(to) == "2 0 1 1");
}

BOOST_AUTO_TEST_CASE(a_delivery_that_is_sent_again_keeps_its_last_forty_attempts) {
    const auto to = endpoint("https://one.example/");
    const auto other = deliver(to, "http_5xx", 500);
    client.run("UPDATE webhook_deliveries SET due_at = NULL, status = 'failed'");
    const auto delivery = deliver(to, "http_4xx", 410);
    const auto attempts = [&](DeliveryId id) {
        return client.number("SELECT COUNT(*) FROM webhook_attempts WHERE delivery_id = ?", id);
    };
    constexpr Milliseconds kSoon{0};
    constexpr Milliseconds kLater{120'000};
    for (int i = 0; i < 41; ++i) send_again(to, delivery, kSoon);
    send_again(to, delivery, kLater, 1);
    BOOST_TEST(attempts(delivery) == 43);
    for (int i = 0; i < 3; ++i) {
        send_again(to, delivery, kLater);
        BOOST_TEST(attempts(delivery) == 40);
    }
    BOOST_TEST(attempts(other) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_attempts WHERE class = 'http_4xx'") ==
               0);  // the first one
}

BOOST_AUTO_TEST_CASE(the_last_attempt_of_a_delivery_counts_as_its_failure) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    client.run("UPDATE webhook_deliveries SET step = 9");
    const auto attempt = result(to, claim(to, owner).at(0), "timeout");
    record_attempts(context, owner, {&attempt, 1});
    BOOST_TEST(client.number("SELECT failed FROM webhook_endpoint_hours") == 1);
}

// Transactions that emit events hold the rows of endpoints.
BOOST_AUTO_TEST_CASE(results_are_counted_while_the_row_of_the_endpoint_is_locked) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    const auto attempt = result(to, claim(to, owner).at(0), "204", 204);
    client.run("START TRANSACTION");
    client.execute("UPDATE webhook_endpoints SET url = 'https://x.example/' WHERE id = ?", to);
    record_attempts(context, owner, {&attempt, 1});
    client.run("ROLLBACK");
    BOOST_TEST(client.number("SELECT succeeded FROM webhook_endpoint_hours") == 1);
}

BOOST_AUTO_TEST_CASE(the_signature_that_was_sent_is_stored_with_the_attempt) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    auto attempt = result(to, claim(to, owner).at(0), "204", 204);
    attempt.signature = "v1,abc v1,def";
    record_attempts(context, owner, {&attempt, 1});
    BOOST_TEST(client.value("SELECT signature FROM webhook_attempts") == "v1,abc v1,def");
}

BOOST_AUTO_TEST_CASE(a_failure_is_retried_on_schedule_until_the_tenth_attempt) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    constexpr std::array kSeconds = {5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400};
    for (int made = 1; made <= 10; ++made) {
        const auto claimed = claim(to, owner);
        BOOST_REQUIRE(claimed.size() == 1U);
        BOOST_TEST(claimed[0].step == made - 1);
        const auto attempt = result(to, claimed[0], "timeout");
        record_attempts(context, owner, {&attempt, 1});
        if (made == 10) break;
        BOOST_TEST(status(claimed[0].id) == "pending");
        BOOST_TEST(std::abs(due_in(claimed[0].id) - 1000L * kSeconds.at(made - 1)) < 2000);
        make_due();
    }
    BOOST_TEST(client.value("SELECT status FROM webhook_deliveries") == "failed");
    BOOST_TEST(client.value("SELECT due_at FROM webhook_deliveries") == "NULL");
    BOOST_TEST(count("webhook_attempts") == 10);
    BOOST_TEST(cell(to, "status") == "active");
}

BOOST_AUTO_TEST_CASE(a_reply_of_any_bytes_is_stored_as_text) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    auto attempt = result(to, claim(to, owner).at(0), "http_5xx", 500);
    attempt.excerpt = "a\xFF" + std::string(2000, 'b');
    record_attempts(context, owner, {&attempt, 1});
    const std::string kept = client.value("SELECT excerpt FROM webhook_attempts");
    BOOST_TEST(kept.size() == 1024U);
    BOOST_TEST(
        kept.starts_with("a\xEF\xBF\xBD"
                         "bb"));
    BOOST_TEST(is_utf8(kept));
}

BOOST_AUTO_TEST_CASE(a_late_result_does_not_change_a_delivery_that_another_runner_holds) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    const auto mine = claim(to, owner);
    make_due();
    const Uuid other = Uuid::v7();
    BOOST_REQUIRE(claim(to, other).size() == 1U);
    const auto late = result(to, mine.at(0), "http_5xx", 500);
    record_attempts(context, owner, {&late, 1});
    BOOST_TEST(status(mine[0].id) == "pending");
    BOOST_TEST(count("webhook_attempts") == 0);
    BOOST_TEST(cell(to, "failing_since") == "NULL");
    const auto newer = result(to, mine[0], "200", 200);
    record_attempts(context, other, {&newer, 1});
    record_attempts(context, owner, {&late, 1});
    BOOST_TEST(status(mine[0].id) == "succeeded");
    BOOST_TEST(count("webhook_attempts") == 1);
    client.run("DELETE FROM webhook_events");
    record_attempts(context, owner, {&late, 1});  // the delivery is deleted
    BOOST_TEST(count("webhook_attempts") == 0);
}

// A transaction that holds the row of a delivery cancels, deletes or requeues it, possibly with
// many others.
BOOST_AUTO_TEST_CASE(a_locked_delivery_does_not_delay_other_results) {
    const auto one = endpoint("https://one.example/");
    const auto two = endpoint("https://two.example/");
    queue(one);
    queue(two);
    const auto held = claim(one, owner).at(0);
    const auto free = claim(two, owner).at(0);
    const std::array results{result(one, held, "200", 200), result(two, free, "200", 200)};
    test::DatabaseContext other;
    other.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        BOOST_TEST(store::cancel_pending(org, one, Timestamp::now(), 10) == 1);
        record_attempts(context, owner, results);
        BOOST_TEST(status(free.id) == "succeeded");
    });
    BOOST_TEST(status(held.id) == "canceled");
    BOOST_TEST(count("webhook_attempts") == 1);
}

BOOST_AUTO_TEST_CASE(a_locked_endpoint_does_not_delay_results_and_is_updated_next_time) {
    const auto to = endpoint("https://one.example/");
    queue(to);
    const auto attempt = result(to, claim(to, owner).at(0), "http_4xx", 404);
    test::DatabaseContext other;
    other.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, acme);
        BOOST_REQUIRE(store::lock_webhook_endpoint(org, installation, to).has_value());
        record_attempts(context, owner, {&attempt, 1});
    });
    BOOST_TEST(count("webhook_attempts") == 1);
    BOOST_TEST(cell(to, "failing_since") == "NULL");
    deliver(to, "http_4xx", 404);
    BOOST_TEST(cell(to, "failing_since") != "NULL");
}

BOOST_AUTO_TEST_CASE(failing_since_is_the_first_failure_since_the_last_success) {
    const auto to = endpoint("https://one.example/");
    deliver(to, "connect");
    const std::string since = cell(to, "failing_since");
    BOOST_TEST(since != "NULL");
    deliver(to, "dns");
    BOOST_TEST(cell(to, "failing_since") == since);
    deliver(to, "200", 200);
    BOOST_TEST(cell(to, "failing_since") == "NULL");
    // In one batch, the attempt that ended last decides.
    set(to, "failing_since", "7");
    queue(to, 2);
    const auto claimed = claim(to, owner);
    const std::vector both{result(to, claimed.at(0), "200", 200),
                           result(to, claimed.at(1), "http_5xx", 503)};
    record_attempts(context, owner, both);
    BOOST_TEST(client.number("SELECT failing_since FROM webhook_endpoints") > 7);
    BOOST_TEST(cell(to, "status") == "active");
}

BOOST_AUTO_TEST_CASE(an_internal_failure_is_retried_and_does_not_count_against_the_endpoint) {
    const auto to = endpoint("https://one.example/");
    const auto id = deliver(to, "internal");
    BOOST_TEST(status(id) == "pending");
    BOOST_TEST(due_in(id) > 4'000);
    BOOST_TEST(due_in(id) <= 5'000);
    BOOST_TEST(client.value("SELECT class FROM webhook_attempts") == "internal");
    BOOST_TEST(cell(to, "failing_since") == "NULL");
    BOOST_TEST(client.number("SELECT attempts FROM webhook_attempt_totals WHERE class = "
                             "'internal'") == 1);
    // Nor does it end a series of failures, or disable the endpoint.
    const std::int64_t since = Timestamp::now().milliseconds() - 5 * kDay - 1'000;
    set(to, "failing_since", std::to_string(since));
    deliver(to, "internal");
    BOOST_TEST(cell(to, "status") == "active");
    BOOST_TEST(cell(to, "failing_since") == std::to_string(since));
    // In one batch with a success, whichever ended last.
    queue(to, 2);
    const auto claimed = claim(to, owner);
    const std::vector both{result(to, claimed.at(0), "200", 200),
                           result(to, claimed.at(1), "internal")};
    record_attempts(context, owner, both);
    BOOST_TEST(cell(to, "failing_since") == "NULL");
}

BOOST_AUTO_TEST_CASE(an_endpoint_that_replies_gone_is_disabled_and_gets_nothing_more) {
    const auto to = endpoint("https://one.example/hook?key=hush#f");
    const auto ids = queue(to, 1500);
    const auto claimed = claim(to, owner, 1);
    const auto attempt = result(to, claimed.at(0), "http_4xx", 410);
    const auto disabled = record_attempts(context, owner, {&attempt, 1}).disabled;
    BOOST_REQUIRE(disabled.size() == 1U);
    BOOST_TEST(disabled[0].endpoint == to);
    BOOST_TEST(cell(to, "status") == "disabled");
    BOOST_TEST(cell(to, "disabled_reason") == "gone");
    BOOST_TEST(status(claimed[0].id) == "failed");
    BOOST_TEST(deliveries(to, "pending") == 499);
    BOOST_TEST(
        !as(acme, [&](auto& transaction) { return service::cancel_deliveries(transaction, to); }));
    BOOST_TEST(deliveries(to, "canceled") == 1499);
    BOOST_TEST(client.value("SELECT status FROM module_installations") == "error");
    BOOST_TEST(client.value("SELECT actor FROM audit_log WHERE action = ?",
                            "webhook_endpoint.disabled") == "system");
    BOOST_TEST(client.value("SELECT details FROM audit_log WHERE subject_id = ?", to.text()) ==
               R"({"reason":"gone"})");
}

BOOST_AUTO_TEST_CASE(the_last_two_endpoints_that_are_disabled_at_once_leave_an_error) {
    const std::vector both{endpoint("https://one.example/"), endpoint("https://two.example/")};
    client.run("START TRANSACTION");  // the audit entries wait for it
    client.execute("UPDATE organizations SET name = 'Held' WHERE id = ?", acme);
    std::vector<std::future<bool>> running;
    test::Client observer;
    for (const EndpointId& one : both) {
        running.push_back(std::async(std::launch::async, [this, one] {
            test::DatabaseContext runner;
            return runner.as(acme, [&](service::OrgTransaction& transaction) {
                return service::disable_webhook_endpoint(transaction, context.keys, one, "gone",
                                                         std::nullopt);
            });
        }));
        const auto waiting = static_cast<int>(running.size());
        BOOST_TEST(test::until([&] { return observer.has_lock_wait(waiting); }));
    }
    client.run("COMMIT");
    for (auto& one : running) BOOST_TEST(one.get());
    BOOST_TEST(client.value("SELECT status FROM module_installations") == "error");
}

BOOST_AUTO_TEST_CASE(deliveries_of_a_reactivated_endpoint_are_not_canceled) {
    const auto to = endpoint("https://one.example/");
    queue(to, 3);
    BOOST_TEST(
        !as(acme, [&](auto& transaction) { return service::cancel_deliveries(transaction, to); }));
    BOOST_TEST(deliveries(to, "pending") == 3);
}

BOOST_AUTO_TEST_CASE(only_five_days_of_failures_disable_an_endpoint) {
    const auto to = endpoint("https://one.example/");
    const Timestamp now = Timestamp::now();
    set(to, "failing_since", std::to_string(now.milliseconds() - 5 * kDay + 60'000));
    deliver(to, "timeout");
    BOOST_TEST(cell(to, "status") == "active");
    set(to, "failing_since", std::to_string(now.milliseconds() - 5 * kDay));
    const auto waiting = queue(to);
    deliver(to, "200", 200);
    BOOST_TEST(cell(to, "status") == "active");
    set(to, "failing_since", std::to_string(now.milliseconds() - 5 * kDay));
    const auto last = deliver(to, "timeout");
    BOOST_TEST(cell(to, "status") == "disabled");
    BOOST_TEST(cell(to, "disabled_reason") == "failing");
    BOOST_TEST(deliveries(to, "pending") == 0);
    BOOST_TEST(status(last) == "canceled");
}

BOOST_AUTO_TEST_CASE(the_other_endpoints_and_the_owners_are_notified_once) {
    seat(acme, "ann@example.test", "owner");
    seat(acme, "bob@example.test", "owner");
    seat(acme, "cy@example.test", "admin");
    const auto gone = endpoint("https://one.example/hook?key=hush");
    const auto other = endpoint(acme, install(acme, "news"), "https://two.example/");
    const auto elsewhere = organization("Other");
    const auto theirs = endpoint(elsewhere, install(elsewhere), "https://three.example/");
    queue(gone, 2);
    const auto claimed = claim(gone, owner);
    const std::vector both{result(gone, claimed.at(0), "http_4xx", 410),
                           result(gone, claimed.at(1), "http_4xx", 410)};
    BOOST_TEST(record_attempts(context, owner, both).disabled.size() == 1U);
    test::fan_out(context);
    BOOST_TEST(deliveries(other, "pending") == 1);
    BOOST_TEST(deliveries(theirs, "pending") == 0);
    Json::Value body;
    BOOST_REQUIRE(parse_json(
        client.value("SELECT body FROM webhook_events WHERE type = 'webhook_endpoint.disabled'"),
        body));
    BOOST_TEST(body["data"]["endpoint_id"].asString() == gone.text());
    BOOST_TEST(body["data"]["module_installation_id"].asString() == installation.text());
    BOOST_TEST(body["data"]["organization_id"].asString() == acme.text());
    BOOST_TEST(body["data"]["url"].asString() == "https://one.example/hook");
    BOOST_TEST(body["data"]["reason"].asString() == "gone");
    BOOST_TEST(body["data"].isMember("failing_since"));
    const std::vector<std::string> owners{"ann@example.test", "bob@example.test"};
    BOOST_TEST(addressees() == owners);
    BOOST_TEST(last_mail.find("https://one.example/hook\n") != std::string::npos);
    BOOST_TEST(last_mail.find("hush") == std::string::npos);
    BOOST_TEST(last_mail.find("410") != std::string::npos);
    BOOST_TEST(last_mail.find("recover") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(without_an_owner_the_admins_are_notified) {
    seat(acme, "cy@example.test", "admin");
    seat(acme, "vi@example.test", "viewer");
    deliver(endpoint("https://one.example/"), "http_4xx", 410);
    BOOST_TEST(addressees() == std::vector<std::string>{"cy@example.test"});
}

BOOST_AUTO_TEST_CASE(an_installation_is_in_error_only_if_no_endpoint_is_active) {
    const auto first = endpoint("https://one.example/");
    const auto second = endpoint("https://two.example/");
    const auto other = install(acme, "news");
    endpoint(acme, other, "https://three.example/");
    deliver(first, "http_4xx", 410);
    const auto status_of = [&](InstallationId id) {
        return client.value("SELECT status FROM module_installations WHERE id = ?", id);
    };
    BOOST_TEST(status_of(installation) == "enabled");
    deliver(second, "http_4xx", 410);
    BOOST_TEST(status_of(installation) == "error");
    BOOST_TEST(status_of(other) == "enabled");
}

BOOST_AUTO_TEST_CASE(a_url_is_shown_without_query_and_fragment) {
    using service::url_without_query;
    BOOST_TEST(url_without_query("https://a.example/x?k=v") == "https://a.example/x");
    BOOST_TEST(url_without_query("https://a.example/x#f?k") == "https://a.example/x");
    BOOST_TEST(url_without_query("https://a.example/x") == "https://a.example/x");
}

// Sign-in codes use the same outbox.
BOOST_AUTO_TEST_CASE(an_endpoint_that_is_repeatedly_reactivated_does_not_fill_the_outbox) {
    seat(acme, "owner@acme.example", "owner");
    const auto to = endpoint("https://one.example/");
    for (int i = 0; i < 63; ++i) {
        set(to, "status", "'active'");
        deliver(to, "http_4xx", 410);
        BOOST_TEST(cell(to, "status") == "disabled");
    }
    BOOST_TEST(count("mail_outbox") == 60);
    const auto other = organization("Other");
    seat(other, "owner@other.example", "owner");
    const auto theirs = endpoint(other, install(other), "https://two.example/");
    as(other, [&](service::OrgTransaction& transaction) {
        service::disable_webhook_endpoint(transaction, context.keys, theirs, "gone", std::nullopt);
    });
    BOOST_TEST(count("mail_outbox") == 61);
}

BOOST_AUTO_TEST_SUITE_END()
