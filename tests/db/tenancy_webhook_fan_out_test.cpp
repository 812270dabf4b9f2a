// The statements of store/webhooks/fan_out.cpp and subscriptions.cpp that name an organization (see
// tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/webhooks/fan_out.hpp"
#include "store/webhooks/subscriptions.hpp"

using namespace muster;
using db::OrgStore;
using test::kLater;
using test::kNow;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy_webhook_fan_out, TwoTenants)

BOOST_AUTO_TEST_CASE(webhook_subscriptions) {
    const std::vector<std::string> types{"a.b"};
    const auto write = [&](OrgStore& org) {
        store::write_subscriptions(org, owner.endpoint, types, kLater);
        return false;
    };
    // The database rejects a row of a stranger for the endpoint.
    BOOST_TEST(!reaches(stranger.id,
                        {"webhook_subscriptions.delete", "webhook_subscriptions.insert"}, write));
    const std::vector<std::string> statements{"webhook_subscriptions.delete",
                                              "webhook_subscriptions.insert",
                                              "webhook_subscriptions.mark"};
    BOOST_TEST(reaches(owner.id, statements, write));
    check({"webhook_subscriptions.mark"}, [&](OrgStore& org) {
        store::mark_indexed(org, owner.endpoint, kLater);
        return false;
    });
    exercised.insert(statements.begin(), statements.end());
    // A stranger finds no row to lock and sends no other statement.
    const auto index = [&](OrgStore& org) {
        store::index_subscriptions(org, owner.endpoint);
        return false;
    };
    BOOST_TEST(!reaches(stranger.id, {"webhook_subscriptions.lock_endpoint"}, index));
    BOOST_TEST(reaches(owner.id,
                       {"webhook_subscriptions.lock_endpoint", "webhook_subscriptions.delete",
                        "webhook_subscriptions.insert", "webhook_subscriptions.mark"},
                       index));
    exercised.insert("webhook_subscriptions.lock_endpoint");
    for (const char* indexed : {"1", "NULL"}) {
        client.run("UPDATE webhook_endpoints SET indexed_at = " + std::string(indexed));
        check({"webhook_subscriptions.find_subscribers",
               "webhook_subscriptions.find_subscribers_unindexed"},
              [&](OrgStore& org) {
                  for (const auto& found : store::find_subscribers(org, "member.created")) {
                      if (found.endpoint == owner.endpoint) return true;
                  }
                  return false;
              });
    }
}

BOOST_AUTO_TEST_CASE(webhook_fan_out) {
    check({"webhook_fan_out.lock_outbox"}, [&](OrgStore& org) {
        const auto events = store::lock_outbox(org, 9);
        return events.size() == 1 && events[0].id == owner.outbox_event;
    });
    check({"webhook_fan_out.delete_outbox"}, [&](OrgStore& org) {
        store::delete_outbox(org, {&owner.outbox_event, 1});
        return false;
    });
    check({"webhook_fan_out.count_pending"},
          [&](OrgStore& org) { return store::count_pending(org).contains(owner.endpoint); });
    const auto drop = [&](OrgStore& org) {
        store::set_dropped(org, {&owner.endpoint, 1}, kNow, kLater);
        return false;
    };
    BOOST_TEST(!reaches(stranger.id, {"webhook_fan_out.lock_dropping"}, drop));
    BOOST_TEST(
        reaches(owner.id, {"webhook_fan_out.lock_dropping", "webhook_fan_out.set_dropped"}, drop));
    exercised.insert({"webhook_fan_out.lock_dropping", "webhook_fan_out.set_dropped"});
}

BOOST_AUTO_TEST_SUITE_END()
