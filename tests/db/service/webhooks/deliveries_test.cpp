// service/webhooks/deliveries.hpp: deliveries are shown with their attempts, sent again
// individually or since a time, and an endpoint can be tested.
#include "service/webhooks/deliveries.hpp"
#include "rules/audit.hpp"

#include "db/webhooks.hpp"
#include "rules/webhook_wire.hpp"
#include "service/audit.hpp"

#include <json/value.h>

#include "print.hpp"

#include <algorithm>

using namespace muster;
using rules::DeliveryStatus;
using rules::EndpointStatus;
using rules::WebhookDelivery;
using test::code_of;

namespace {

constexpr Milliseconds kHour{3600L * 1000};

struct Deliveries : test::EndpointFixture {
    service::EndpointRef place() const { return {shop, endpoint}; }
    std::vector<WebhookDelivery> list(const service::DeliveryFilter& filter = {}) {
        return service::list_deliveries(context, acme, place(), std::nullopt, filter, 100);
    }
    std::vector<DeliveryId> ids(const service::DeliveryFilter& filter) {
        std::vector<DeliveryId> found;
        for (const auto& delivery : list(filter)) found.push_back(delivery.id);
        return found;
    }
    WebhookDelivery redeliver(DeliveryId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::redeliver(transaction, place(), id);
        });
    }
    WebhookDelivery send_test() {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::test_endpoint(transaction, place());
        });
    }
    std::int64_t recover(Timestamp since) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::recover_deliveries(transaction, place(), since).queued;
        });
    }
    // Every way to send again.
    std::vector<std::function<void()>> sendings(DeliveryId id) {
        return {[this, id] { redeliver(id); }, [this] { send_test(); },
                [this] { recover(Timestamp::now() - kHour); }};
    }
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const auto& entry : service::list_audit_log(context, acme, {}, {}, {}, 100)) {
            found.push_back(entry.action);
        }
        return found;
    }

    EndpointId endpoint = create().endpoint.id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_deliveries, Deliveries)

BOOST_AUTO_TEST_CASE(a_delivery_is_shown_with_its_attempts_in_order) {
    const auto id = deliver(endpoint, "failed");
    attempt(id, "timeout", {});
    attempt(id, "http_5xx", 503, "out of order");
    const auto fresh = deliver(endpoint, "pending");
    const auto found = list();
    BOOST_TEST_REQUIRE(found.size() == 2U);
    BOOST_TEST(found[0].id == fresh);
    BOOST_TEST(found[0].attempts.empty());
    BOOST_TEST(found[0].next_attempt_at.has_value());
    BOOST_TEST(found[1].id == id);
    BOOST_TEST(found[1].status == DeliveryStatus::Failed);
    BOOST_TEST(!found[1].next_attempt_at.has_value());
    BOOST_TEST(found[1].event_type == "member.created");
    BOOST_TEST_REQUIRE(found[1].attempts.size() == 2U);
    BOOST_TEST(found[1].attempts[0].attempt_class == "timeout");
    BOOST_TEST(!found[1].attempts[0].status_code.has_value());
    BOOST_TEST(!found[1].attempts[0].response_excerpt.has_value());
    BOOST_TEST(found[1].attempts[1].status_code == 503);
    BOOST_TEST(found[1].attempts[1].duration_ms == 7);
    BOOST_TEST(found[1].attempts[1].response_excerpt.value_or("") == "out of order");
    const auto one = service::find_delivery(context, acme, place(), id);
    BOOST_TEST_REQUIRE(one.has_value());
    BOOST_TEST(one->attempts.size() == 2U);
    BOOST_TEST(one->webhook_id == found[1].webhook_id);
    BOOST_TEST(one->webhook_id.starts_with("msg_"));
}

BOOST_AUTO_TEST_CASE(only_the_last_attempts_of_a_delivery_are_shown) {
    const auto id = deliver(endpoint, "failed");
    const auto other = deliver(endpoint, "failed");
    for (int i = 0; i < 45; ++i) attempt(id, "http_4xx", 400 + i);
    attempt(other, "timeout", {});
    const auto found = list();
    BOOST_TEST_REQUIRE(found.size() == 2U);
    BOOST_TEST(found[0].attempts.size() == 1U);
    BOOST_TEST_REQUIRE(found[1].attempts.size() == 40U);
    BOOST_TEST(found[1].attempts.front().status_code == 405);
    BOOST_TEST(found[1].attempts.back().status_code == 444);
}

BOOST_AUTO_TEST_CASE(a_page_costs_the_same_statements_for_any_number_of_attempts) {
    const auto cost = [&] {
        db::statistics() = {};
        list();
        return db::statistics().statements;
    };
    attempt(deliver(endpoint, "failed"), "timeout", {});
    const int one = cost();
    for (int i = 0; i < 20; ++i) attempt(deliver(endpoint, "failed"), "timeout", {});
    BOOST_TEST(cost() == one);
    BOOST_TEST(one == 3);
}

BOOST_AUTO_TEST_CASE(deliveries_are_listed_newest_first_page_by_page) {
    std::vector<DeliveryId> made;
    for (int i = 0; i < 5; ++i) made.push_back(deliver(endpoint, "pending"));
    deliver(create().endpoint.id, "pending");
    std::reverse(made.begin(), made.end());
    std::vector<DeliveryId> found;
    for (std::optional<DeliveryId> before;; before = found.back()) {
        const auto page = service::list_deliveries(context, acme, place(), before, {}, 2);
        for (const auto& delivery : page) found.push_back(delivery.id);
        if (page.size() < 2) break;
    }
    BOOST_TEST(found == made);
}

BOOST_AUTO_TEST_CASE(deliveries_are_filtered_by_status_and_event_type) {
    const auto failed = deliver(endpoint, "failed");
    const auto locked = deliver(endpoint, "pending", "member.locked");
    const auto failed_lock = deliver(endpoint, "failed", "member.locked");
    using Ids = std::vector<DeliveryId>;
    BOOST_TEST(ids({"failed", {}}) == (Ids{failed_lock, failed}));
    BOOST_TEST(ids({{}, "member.locked"}) == (Ids{failed_lock, locked}));
    BOOST_TEST(ids({"failed", "member.locked"}) == Ids{failed_lock});
    BOOST_TEST(ids({"canceled", {}}) == Ids{});
    BOOST_TEST(ids({{}, "member"}) == Ids{});
}

BOOST_AUTO_TEST_CASE(deliveries_of_another_endpoint_are_not_listed) {
    const auto id = deliver(endpoint, "failed");
    const OrgId other = organization("Other");
    const std::vector<std::pair<OrgId, service::EndpointRef>> places = {
        {acme, {shop, create().endpoint.id}},
        {acme, {install(acme, "second"), endpoint}},
        {other, place()},
        {other, {install(other), endpoint}}};
    for (const auto& [organization_id, where] : places) {
        BOOST_TEST(!service::find_delivery(context, organization_id, where, id).has_value());
        BOOST_TEST(code_of([&, o = organization_id, w = where] {
                       as(o, [&](service::OrgTransaction& transaction) {
                           service::redeliver(transaction, w, id);
                       });
                   }) == ErrorCode::NotFound);
    }
    BOOST_TEST(state(id) == "failed 3");
    for (std::size_t i = 1; i < places.size(); ++i) {
        BOOST_TEST(code_of([&] {
                       (void)service::list_deliveries(context, places[i].first, places[i].second,
                                                      {}, {}, 10);
                   }) == ErrorCode::NotFound);
    }
}

// ---------------------------------------------------------------------------- sending again

BOOST_AUTO_TEST_CASE(a_delivery_in_any_status_can_be_sent_again_unless_a_runner_holds_it) {
    for (const char* status : {"succeeded", "failed", "canceled", "pending"}) {
        const auto id = deliver(endpoint, status);
        attempt(id, "timeout", {});
        const auto before = service::find_delivery(context, acme, place(), id);
        const auto again = redeliver(id);
        BOOST_TEST(state(id) == "pending 0 due", status);
        BOOST_TEST(again.status == DeliveryStatus::Pending);
        BOOST_TEST(again.webhook_id == before->webhook_id);
        BOOST_TEST(again.attempts.size() == 1U);
        BOOST_TEST(again.next_attempt_at.has_value());
    }
    const auto under_way =
        deliver(endpoint, "pending", "member.created", Timestamp::now(), Uuid::v7());
    BOOST_TEST(redeliver(under_way).status == DeliveryStatus::Pending);
    BOOST_TEST(state(under_way) == "pending 3 later leased");
    BOOST_TEST(code_of([&] { redeliver(DeliveryId::create()); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(
    a_recovery_resends_only_deliveries_that_failed_or_were_canceled_since_that_time) {
    const Timestamp since = Timestamp::now() - kHour;
    const Timestamp before = since - Milliseconds(1);
    const auto made = [&](const char* status, Timestamp when) {
        return deliver(endpoint, status, "member.created", when);
    };
    const std::vector<DeliveryId> again = {made("failed", since), made("canceled", since),
                                           made("failed", Timestamp::now())};
    const std::vector<std::pair<DeliveryId, std::string>> left = {
        {made("failed", before), "failed 3"},
        {made("canceled", before), "canceled 3"},
        {made("succeeded", since), "succeeded 3"},
        {made("pending", Timestamp::now()), "pending 3 later"},
        {deliver(create().endpoint.id, "failed"), "failed 3"}};
    BOOST_TEST(recover(since) == 3);
    for (const DeliveryId id : again) BOOST_TEST(state(id) == "pending 0 due");
    for (const auto& [id, expected] : left) BOOST_TEST(state(id) == expected);
    BOOST_TEST(recover(since) == 0);
}

BOOST_AUTO_TEST_CASE(a_recovery_from_a_future_time_resends_nothing) {
    const auto id = deliver(endpoint, "failed");
    const auto error = test::error_of([&] { recover(Timestamp::now() + kHour); });
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::ValidationError);
    BOOST_TEST(error->details()["fields"][0]["path"].asString() == "since");
    BOOST_TEST(error->details()["fields"][0]["code"].asString() == "out_of_range");
    BOOST_TEST(state(id) == "failed 3");
}

BOOST_AUTO_TEST_CASE(a_test_event_goes_only_to_its_endpoint_with_any_subscription) {
    create({"member.locked"});
    const auto delivery = send_test();
    BOOST_TEST(delivery.event_type == "webhook_endpoint.test");
    BOOST_TEST(delivery.status == DeliveryStatus::Pending);
    BOOST_TEST(delivery.attempts.empty());
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_deliveries") == 1);
    BOOST_TEST(state(delivery.id) == "pending 0 due");
    const std::string body = client.value("SELECT body FROM webhook_events");
    for (const std::string& id : {endpoint.text(), shop.text(), acme.text()}) {
        BOOST_TEST(body.find(id) != std::string::npos);
    }
    BOOST_TEST(send_test().webhook_id != delivery.webhook_id);
}

BOOST_AUTO_TEST_CASE(an_inactive_endpoint_and_a_disabled_installation_get_no_deliveries) {
    const auto id = deliver(endpoint, "failed");
    const auto refused = [&] {
        bool all = true;
        for (const auto& sending : sendings(id)) {
            all = all && code_of(sending) == ErrorCode::InvalidState;
        }
        return all && state(id) == "failed 3" &&
               client.number("SELECT COUNT(*) FROM webhook_deliveries") == 1;
    };
    for (const auto status : {EndpointStatus::Paused, EndpointStatus::Disabled}) {
        set_status(endpoint, status);
        BOOST_TEST(refused());
    }
    set_status(endpoint, EndpointStatus::Active);
    set_installation("disabled");
    BOOST_TEST(refused());
    set_installation("error");
    for (const auto& sending : sendings(id)) BOOST_TEST(!code_of(sending).has_value());
}

// ---------------------------------------------------------------------------- operator, audit log

BOOST_AUTO_TEST_CASE(the_operator_recovers_an_endpoint_by_its_id) {
    const auto id = deliver(endpoint, "failed");
    const Timestamp since = Timestamp::now() - kHour;
    BOOST_TEST(service::recover_deliveries(context, acme, endpoint, since).queued == 1);
    BOOST_TEST(state(id) == "pending 0 due");
    BOOST_TEST(actions().front() == "webhook_endpoint.recovered");
    const OrgId other = organization("Other");
    for (const auto& [organization_id, which] :
         {std::pair(other, endpoint), std::pair(acme, EndpointId::create())}) {
        BOOST_TEST(code_of([&, o = organization_id, w = which] {
                       service::recover_deliveries(context, o, w, since);
                   }) == ErrorCode::NotFound);
    }
}

BOOST_AUTO_TEST_CASE(a_call_recovers_a_bounded_number_of_deliveries) {
    const auto first = deliver(endpoint, "failed");
    client.execute(
        "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
        "created_at, updated_at) SELECT d.organization_id, "
        "UNHEX(CONCAT(SUBSTR(HEX(d.id), 1, 22), LPAD(HEX(seq), 10, '0'))), d.endpoint_id, "
        "d.event_id, IF(seq < 3000, 'failed', 'canceled'), d.created_at, d.updated_at "
        "FROM webhook_deliveries d JOIN " +
            test::sequence(service::kMostRecovered + 9) + " WHERE d.id = ?",
        first);
    const Timestamp since = Timestamp::now() - kHour;
    const auto piece = service::recover_deliveries(context, acme, endpoint, since);
    BOOST_TEST(piece.queued == service::kMostRecovered);
    BOOST_TEST(piece.has_more);
    const auto rest = service::recover_deliveries(context, acme, endpoint, since);
    BOOST_TEST(rest.queued == 10);
    BOOST_TEST(!rest.has_more);
}

BOOST_AUTO_TEST_CASE(the_log_records_what_was_sent_again) {
    const auto id = deliver(endpoint, "failed");
    redeliver(id);
    recover(Timestamp::now() - kHour);
    send_test();
    const auto logged = actions();
    BOOST_TEST_REQUIRE(logged.size() >= 3U);
    BOOST_TEST(logged[0] == "webhook_endpoint.tested");
    BOOST_TEST(logged[1] == "webhook_endpoint.recovered");
    BOOST_TEST(logged[2] == "webhook_delivery.redelivered");
}

BOOST_AUTO_TEST_SUITE_END()
