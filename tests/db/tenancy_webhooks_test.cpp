// A tenant cannot reach the webhook endpoints and deliveries of another (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/endpoint_results.hpp"
#include "store/webhooks/endpoints.hpp"

#include <algorithm>

using namespace muster;
using db::OrgStore;
using test::kLater;
using test::kNow;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(webhook_endpoints) {
    const auto endpoint = [&] {
        rules::WebhookEndpoint made;
        made.id = owner.endpoint;
        made.module_installation_id = owner.installation;
        made.url = "https://example.test/new";
        made.subscribed_event_types = {"member.created"};
        made.created_at = made.updated_at = kLater;
        return made;
    };
    check({"webhook_endpoints.insert"}, [&](OrgStore& org) {
        auto made = endpoint();
        made.id = EndpointId::create();
        store::insert_webhook_endpoint(org, made, "sealed", std::nullopt);
        return false;
    });
    check({"webhook_endpoints.count"}, [&](OrgStore& org) {
        return store::count_webhook_endpoints(org, owner.installation) > 0;
    });
    client.execute(
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_at, updated_at) "
        "VALUES (?, ?, ?, 'https://example.org/', 'member.created', 'active', '', 0, 0)",
        owner.id, EndpointId::create(), owner.installation);
    check({"webhook_endpoints.count_all"},
          [&](OrgStore& org) { return store::count_webhook_endpoints(org) == 2; });
    check({"webhook_endpoints.find"}, [&](OrgStore& org) {
        return store::find_webhook_endpoint(org, owner.installation, owner.endpoint).has_value();
    });
    check({"webhook_endpoints.lock"}, [&](OrgStore& org) {
        return store::lock_webhook_endpoint(org, owner.installation, owner.endpoint).has_value();
    });
    check({"webhook_endpoints.page"}, [&](OrgStore& org) {
        return !store::page_webhook_endpoints(org, owner.installation, {}, 10).empty();
    });
    check({"webhook_endpoints.write"}, [&](OrgStore& org) {
        store::write_webhook_endpoint(org, endpoint());
        return false;
    });
    check({"webhook_endpoints.rotate_secret"}, [&](OrgStore& org) {
        return store::rotate_webhook_secret(org, owner.endpoint, "sealed", kLater, kLater);
    });
    check({"webhook_endpoints.list_health"}, [&](OrgStore& org) {
        const auto list = store::list_endpoint_health(org);
        return list.size() != 1 || list[0].endpoint.id == owner.endpoint || list[0].pending != 1;
    });
    check({"webhook_endpoint_hours.add"}, [&](OrgStore& org) {
        const store::EndpointResults of{owner.endpoint, {1, 0, 0}};
        store::add_endpoint_results(org, {&of, 1}, kLater);
        return false;
    });
    check({"webhook_endpoint_hours.read"}, [&](OrgStore& org) {
        std::vector<rules::WebhookEndpoint> one(1);
        one.front().id = owner.endpoint;
        store::read_endpoint_results(org, one, Timestamp(0));
        return one.front().last_24_hours.succeeded > 0;
    });
    check({"webhook_endpoints.find_installation"}, [&](OrgStore& org) {
        return store::find_installation_of_endpoint(org, owner.endpoint).has_value();
    });
    check({"webhook_endpoints.remove"}, [&](OrgStore& org) {
        store::remove_webhook_endpoint(org, owner.endpoint, kNow);
        return false;
    });
    client.execute("UPDATE webhook_endpoints SET removed_at = ?", kNow);
    check(
        {"webhook_endpoints.delete_deliveries", "webhook_endpoint_hours.delete",
         "webhook_endpoints.delete"},
        [&](OrgStore& org) { return store::delete_removed_endpoint(org, owner.endpoint, 10) > 0; });
}

BOOST_AUTO_TEST_CASE(webhook_deliveries) {
    const auto finds = [&](std::optional<EndpointId> endpoint,
                           std::optional<rules::DeliveryStatus> status) {
        const store::DeliveryFilter filter{endpoint, status, {}, {}, {}};
        return [&, filter](OrgStore& org) {
            const auto entries = store::page_deliveries(org, filter, std::nullopt, 10);
            return std::any_of(entries.begin(), entries.end(),
                               [&](const auto& entry) { return entry.id == owner.delivery; });
        };
    };
    using rules::DeliveryStatus;
    check({"webhook_deliveries.page"}, finds({}, {}));
    check({"webhook_deliveries.page_of_status"}, finds({}, DeliveryStatus::Pending));
    check({"webhook_deliveries.page_of_endpoint"}, finds(owner.endpoint, {}));
    check({"webhook_deliveries.find"}, [&](OrgStore& org) {
        return store::find_delivery(org, owner.endpoint, owner.delivery).has_value();
    });
    check({"webhook_deliveries.read_attempts"}, [&](OrgStore& org) {
        std::vector<rules::WebhookDelivery> one(1);
        one.front().id = owner.delivery;
        store::read_attempts(org, one);
        return !one.front().attempts.empty();
    });
    check({"webhook_deliveries.requeue"}, [&](OrgStore& org) {
        return store::requeue_delivery(org, owner.endpoint, owner.delivery, kLater);
    });
    client.execute("UPDATE webhook_deliveries SET status = 'failed', due_at = NULL");
    check({"webhook_deliveries.page_of_endpoint_and_status"},
          finds(owner.endpoint, DeliveryStatus::Failed));
    check({"webhook_deliveries.count_recoverable"}, [&](OrgStore& org) {
        return store::count_recoverable(org, owner.endpoint, DeliveryStatus::Failed, {}, 10) > 0;
    });
    check({"webhook_deliveries.recover"}, [&](OrgStore& org) {
        return store::recover_deliveries(org, owner.endpoint, DeliveryStatus::Failed, {}, kLater,
                                         10) > 0;
    });
}

BOOST_AUTO_TEST_SUITE_END()
