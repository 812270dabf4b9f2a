// The description of an endpoint, and the results of its
// deliveries (store/webhooks/endpoint_results.hpp).
#include "store/webhooks/endpoint_results.hpp"

#include "db/webhooks.hpp"

#include "print.hpp"

using namespace muster;

BOOST_FIXTURE_TEST_SUITE(webhook_endpoint_results, test::EndpointFixture)

BOOST_AUTO_TEST_CASE(an_endpoint_has_a_description_that_can_be_changed_and_removed) {
    const auto issued = as_admin([&](service::OrgTransaction& transaction) {
        return service::create_webhook_endpoint(
            transaction, context.keys, shop,
            {"https://example.org/hook", {"member.created"}, "CRM in production"});
    });
    const auto id = issued.endpoint.id;
    BOOST_TEST(issued.endpoint.description.value_or("") == "CRM in production");
    BOOST_TEST(read(id).description.value_or("") == "CRM in production");
    service::EndpointChange to;
    to.description = std::optional<std::string>("CRM");
    BOOST_TEST(change(id, to).description.value_or("") == "CRM");
    BOOST_TEST(change(id, {}).description.value_or("") == "CRM");
    to.description = std::optional<std::string>();
    BOOST_TEST(!change(id, to).description.has_value());
    BOOST_TEST(!read(id).description.has_value());
}

BOOST_AUTO_TEST_CASE(an_endpoint_shows_its_results_of_24_hours) {
    const auto id = create().endpoint.id;
    const auto other = create().endpoint.id;
    constexpr Milliseconds kHour{3'600'000};
    const Timestamp now = Timestamp::now();
    const auto add = [&](EndpointId to, Timestamp when, rules::RecentResults results) {
        as(acme, [&](service::OrgTransaction& transaction) {
            db::OrgStore org(transaction.tx, acme);
            const store::EndpointResults of{to, results};
            store::add_endpoint_results(org, {&of, 1}, when);
        });
    };
    BOOST_TEST(!read(id).last_succeeded_at.has_value());
    add(id, now - 30 * kHour, {1, 1, 1});
    BOOST_TEST(read(id).last_24_hours.succeeded == 0);
    BOOST_TEST(read(id).last_succeeded_at.value() == now - 30 * kHour);
    add(id, now - 23 * kHour, {0, 2, 5});
    add(id, now, {3, 0, 1});
    add(id, now, {4, 1, 2});
    add(other, now, {9, 9, 9});
    const auto shown = read(id);
    BOOST_TEST(shown.last_24_hours.succeeded == 7);
    BOOST_TEST(shown.last_24_hours.failed == 3);
    BOOST_TEST(shown.last_24_hours.failed_attempts == 8);
    BOOST_TEST(shown.last_succeeded_at.value() == now);
    add(id, now + 25 * kHour, {0, 1, 1});  // uses the row of this hour again
    BOOST_TEST(read(id).last_succeeded_at.value() == now);
    BOOST_TEST(client.number("SELECT SUM(failed) FROM webhook_endpoint_hours "
                             "WHERE endpoint_id = ? AND slot = ?",
                             id, now.milliseconds() / 3'600'000 % 25) == 1);
    const auto one = service::find_webhook_endpoint(context, acme, {shop, id});
    BOOST_TEST(one.value().last_succeeded_at.value() == now);
    as_admin([&](service::OrgTransaction& transaction) {
        service::delete_webhook_endpoint(transaction, {shop, id});
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_endpoint_hours WHERE endpoint_id = ?",
                             id) == 0);
    BOOST_TEST(read(other).last_24_hours.succeeded == 9);
}

BOOST_AUTO_TEST_SUITE_END()
