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
        return service::list_deliveries(context, acme, place(), std::nullopt, filter, 100)
            .deliveries;
    }
    std::vector<DeliveryId> ids(const service::DeliveryFilter& filter) {
        std::vector<DeliveryId> found;
        for (const auto& delivery : list(filter)) found.push_back(delivery.id);
        return found;
    }
    // The ids of the deliveries of each page.
    std::vector<std::vector<DeliveryId>> pages(int limit) {
        std::vector<std::vector<DeliveryId>> found;
        std::optional<DeliveryId> before;
        do {
            const auto page = service::list_deliveries(context, acme, place(), before, {}, limit);
            found.emplace_back();
            for (const auto& delivery : page.deliveries) found.back().push_back(delivery.id);
            before =
                page.next ? std::optional(DeliveryId(*Uuid::from_bytes(*page.next))) : std::nullopt;
        } while (before);
        return found;
    }
    WebhookDelivery redeliver(DeliveryId id) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::redeliver(transaction, place(), id, backlog);
        });
    }
    WebhookDelivery send_test() {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::test_endpoint(transaction, place(), backlog);
        });
    }
    std::int64_t recover(Timestamp since) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::recover_deliveries(transaction, place(), {since, {}}, backlog).queued;
        });
    }
    service::Recovered recover(const service::Recovery& recovery) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return service::recover_deliveries(transaction, place(), recovery, backlog);
        });
    }
    // Failed deliveries, `count` more than `first`.
    void copy(DeliveryId first, std::int64_t count, const char* status) {
        client.execute(
            "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
            "created_at, updated_at) SELECT d.organization_id, "
            "UNHEX(CONCAT(SUBSTR(HEX(d.id), 1, 22), LPAD(HEX(seq), 10, '0'))), d.endpoint_id, "
            "d.event_id, " +
                std::string(status) +
                ", d.created_at, d.updated_at FROM webhook_deliveries d JOIN " +
                test::sequence(static_cast<int>(count)) + " WHERE d.id = ?",
            first);
    }
    // Every way to send again.
    std::vector<std::function<void()>> sendings(DeliveryId id) {
        return {[this, id] { redeliver(id); }, [this] { send_test(); },
                [this] { recover(Timestamp::now() - kHour); }};
    }
    std::vector<std::string> actions() {
        std::vector<std::string> found;
        for (const auto& entry : service::newest_audit_entries(context, acme, std::nullopt, 100)) {
            found.push_back(entry.action);
        }
        return found;
    }

    const std::int64_t backlog = context.settings.webhooks.backlog;
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
    for (const auto& page : pages(2)) found.insert(found.end(), page.begin(), page.end());
    BOOST_TEST(found == made);
}

BOOST_AUTO_TEST_CASE(a_page_ends_with_the_delivery_whose_excerpts_exceed_a_mebibyte) {
    const std::string excerpt(1024, 'x');
    for (int i = 0; i < 28; ++i) {
        const auto id = deliver(endpoint, "failed");
        for (int k = 0; k < 40; ++k) attempt(id, "http_5xx", 500, excerpt);
    }
    const auto found = pages(100);
    BOOST_TEST_REQUIRE(found.size() == 2U);
    BOOST_TEST(found[0].size() == 26U);  // 40 KiB each
    BOOST_TEST(found[1].size() == 2U);
}

BOOST_AUTO_TEST_CASE(deliveries_are_filtered_by_status_and_event_type) {
    const auto failed = deliver(endpoint, "failed");
    const auto locked = deliver(endpoint, "pending", "member.locked");
    const auto failed_lock = deliver(endpoint, "failed", "member.locked");
    using Ids = std::vector<DeliveryId>;
    BOOST_TEST(ids({DeliveryStatus::Failed, {}}) == (Ids{failed_lock, failed}));
    BOOST_TEST(ids({DeliveryStatus::Pending, {}}) == Ids{locked});
    BOOST_TEST(ids({{}, "member.locked"}) == (Ids{failed_lock, locked}));
    BOOST_TEST(ids({DeliveryStatus::Failed, "member.locked"}) == Ids{failed_lock});
    BOOST_TEST(ids({DeliveryStatus::Canceled, {}}) == Ids{});
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
                           service::redeliver(transaction, w, id, backlog);
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

BOOST_AUTO_TEST_CASE(deliveries_are_filtered_by_the_class_of_their_last_attempt) {
    using rules::AttemptClass;
    const auto accepted = deliver(endpoint, "succeeded");
    attempt(accepted, "http_5xx", 503);
    attempt(accepted, "204", 204);
    const auto failed = deliver(endpoint, "pending");
    attempt(failed, "200", 200);
    attempt(failed, "http_5xx", 500);
    const auto slow = deliver(endpoint, "failed");
    attempt(slow, "timeout", {});
    deliver(endpoint, "pending");
    using Ids = std::vector<DeliveryId>;
    const auto of_class = [&](AttemptClass wanted) { return ids({{}, {}, wanted, {}, {}}); };
    BOOST_TEST(of_class(AttemptClass::Accepted) == Ids{accepted});
    BOOST_TEST(of_class(AttemptClass::ServerError) == Ids{failed});
    BOOST_TEST(of_class(AttemptClass::Timeout) == Ids{slow});
    BOOST_TEST(of_class(AttemptClass::Dns) == Ids{});
    BOOST_TEST(ids({DeliveryStatus::Failed, {}, AttemptClass::Timeout, {}, {}}) == Ids{slow});
    BOOST_TEST(ids({DeliveryStatus::Pending, {}, AttemptClass::Timeout, {}, {}}) == Ids{});
}

BOOST_AUTO_TEST_CASE(deliveries_are_filtered_by_their_time) {
    const Timestamp now = Timestamp::now();
    const auto early = deliver(endpoint, "failed", "member.created", now - Milliseconds(2));
    const auto middle = deliver(endpoint, "failed", "member.created", now - Milliseconds(1));
    const auto late = deliver(endpoint, "failed", "member.created", now);
    using Ids = std::vector<DeliveryId>;
    const auto between = [&](std::optional<Timestamp> since, std::optional<Timestamp> until) {
        return ids({{}, {}, {}, since, until});
    };
    BOOST_TEST(between(now - Milliseconds(1), {}) == (Ids{late, middle}));
    BOOST_TEST(between({}, now) == (Ids{middle, early}));
    BOOST_TEST(between(now - Milliseconds(1), now) == Ids{middle});
    BOOST_TEST(between(now + kHour, {}) == Ids{});
    BOOST_TEST(between({}, now - kHour) == Ids{});
    BOOST_TEST(between(Timestamp(0), Timestamp(1)) == Ids{});
}

// Otherwise a filter that matches little would read the deliveries of 30 days.
BOOST_AUTO_TEST_CASE(a_page_examines_a_bounded_number_of_deliveries) {
    const auto first = deliver(endpoint, "succeeded", "member.locked");
    copy(deliver(endpoint, "succeeded"), service::kMostExamined, "'succeeded'");
    const service::DeliveryFilter filter{{}, "member.locked"};
    const auto page = service::list_deliveries(context, acme, place(), std::nullopt, filter, 100);
    BOOST_TEST(page.deliveries.empty());
    BOOST_TEST_REQUIRE(page.next.has_value());
    const DeliveryId before(*Uuid::from_bytes(*page.next));
    const auto rest = service::list_deliveries(context, acme, place(), before, filter, 100);
    BOOST_TEST_REQUIRE(rest.deliveries.size() == 1U);
    BOOST_TEST(rest.deliveries[0].id == first);
    BOOST_TEST(!rest.next.has_value());
}

BOOST_AUTO_TEST_CASE(one_list_has_the_deliveries_of_all_endpoints) {
    const auto one = deliver(endpoint, "failed");
    const auto other_endpoint = create().endpoint.id;
    const auto two = deliver(other_endpoint, "pending");
    const auto listed = [&](const service::DeliveryFilter& filter = {}) {
        return service::list_deliveries(context, acme, std::nullopt, std::nullopt, filter, 100)
            .deliveries;
    };
    const auto all = listed();
    BOOST_TEST_REQUIRE(all.size() == 2U);
    BOOST_TEST(all[0].id == two);
    BOOST_TEST(all[0].endpoint_id == other_endpoint);
    BOOST_TEST(all[0].module_installation_id == shop);
    BOOST_TEST(all[1].id == one);
    BOOST_TEST(listed({DeliveryStatus::Failed}).size() == 1U);
    const OrgId other = organization("Other");
    BOOST_TEST(service::list_deliveries(context, other, {}, {}, {}, 100).deliveries.empty());
    client.execute("UPDATE webhook_endpoints SET removed_at = 1 WHERE id = ?", other_endpoint);
    BOOST_TEST(listed().size() == 1U);  // a deleted endpoint is not shown
}

BOOST_AUTO_TEST_CASE(a_delivery_shows_what_was_sent) {
    const auto id = deliver(endpoint, "failed");
    attempt(id, "timeout", {});
    client.run("UPDATE webhook_attempts SET signature = 'v1,abc'");
    const auto found = service::find_delivery(context, acme, place(), id);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->payload == "{}");
    BOOST_TEST(found->attempts.at(0).signature.value_or("") == "v1,abc");
    BOOST_TEST(list().at(0).payload.empty());
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

BOOST_AUTO_TEST_CASE(a_recovery_can_end_at_a_time) {
    const Timestamp until = Timestamp::now() - Milliseconds(10);
    const auto made = [&](const char* status, Timestamp when) {
        return deliver(endpoint, status, "member.created", when);
    };
    const auto inside = made("canceled", until - Milliseconds(1));
    const auto outside = made("failed", until);
    BOOST_TEST(recover({until - kHour, until}).queued == 1);
    BOOST_TEST(state(inside) == "pending 0 due");
    BOOST_TEST(state(outside) == "failed 3");
    for (const Timestamp end : {until - kHour, until - 2 * kHour}) {
        const auto error = test::error_of([&] { recover({until - kHour, end}); });
        BOOST_TEST_REQUIRE(error.has_value());
        BOOST_TEST(error->details()["fields"][0]["path"].asString() == "until");
    }
}

BOOST_AUTO_TEST_CASE(a_dry_run_of_a_recovery_counts_and_changes_nothing) {
    const Timestamp since = Timestamp::now() - kHour;
    const auto id = deliver(endpoint, "failed");
    deliver(endpoint, "canceled");
    deliver(endpoint, "succeeded");
    const auto logged = actions();
    const auto dry = recover({since, {}, true});
    BOOST_TEST(dry.queued == 0);
    BOOST_TEST(!dry.has_more);
    BOOST_TEST_REQUIRE(dry.matching.has_value());
    BOOST_TEST(dry.matching->count == 2);
    BOOST_TEST(dry.matching->exact);
    BOOST_TEST(state(id) == "failed 3");
    BOOST_TEST(actions() == logged);
    BOOST_TEST(!recover({since, {}}).matching.has_value());
    copy(deliver(endpoint, "failed"), service::kMostRecoverable, "'failed'");
    const auto many = recover({since, {}, true}).matching;
    BOOST_TEST(many->count == service::kMostRecoverable);
    BOOST_TEST(!many->exact);
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
    copy(first, service::kMostRecovered + 9, "IF(seq < 3000, 'failed', 'canceled')");
    const Timestamp since = Timestamp::now() - kHour;
    const auto piece = service::recover_deliveries(context, acme, endpoint, since);
    BOOST_TEST(piece.queued == service::kMostRecovered);
    BOOST_TEST(piece.has_more);
    const auto rest = service::recover_deliveries(context, acme, endpoint, since);
    BOOST_TEST(rest.queued == 10);
    BOOST_TEST(!rest.has_more);
}

BOOST_AUTO_TEST_CASE(a_full_call_that_recovers_the_last_delivery_has_no_more) {
    const auto first = deliver(endpoint, "failed");
    copy(first, service::kMostRecovered - 1, "'failed'");
    const auto all = service::recover_deliveries(context, acme, endpoint, Timestamp::now() - kHour);
    BOOST_TEST(all.queued == service::kMostRecovered);
    BOOST_TEST(!all.has_more);
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

BOOST_AUTO_TEST_CASE(a_delivery_that_a_runner_sends_now_is_not_logged_as_sent_again) {
    const auto under_way =
        deliver(endpoint, "pending", "member.created", Timestamp::now(), Uuid::v7());
    const auto logged = actions();
    BOOST_TEST(redeliver(under_way).id == under_way);
    BOOST_TEST(actions() == logged);
}

BOOST_AUTO_TEST_SUITE_END()
