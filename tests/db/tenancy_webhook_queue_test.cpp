// The statements of store/webhooks/queue.cpp that name an organization (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/webhooks/deliveries.hpp"
#include "store/webhooks/queue.hpp"

using namespace muster;
using db::OrgStore;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

struct Queue : TwoTenants {
    void put_delivery(std::optional<Uuid> lease_owner) {
        client.execute("UPDATE webhook_deliveries SET lease_owner = ? WHERE organization_id = ?",
                       lease_owner, owner.id);
    }
    const Uuid runner = Uuid::v7();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy_webhook_queue, Queue)

BOOST_AUTO_TEST_CASE(webhook_queue) {
    check({"webhook_queue.find_target"},
          [&](OrgStore& org) { return store::find_target(org, owner.endpoint).has_value(); });
    const auto claim = [&](OrgStore& org) {
        return store::claim_deliveries(org, owner.endpoint, runner, kLater, kLater, {10, 1'000})
            .deliveries.size();
    };
    // A stranger finds no row to lock and sends no second statement.
    BOOST_TEST(!reaches(stranger.id, {"webhook_queue.lock_due"},
                        [&](OrgStore& org) { return claim(org) > 0; }));
    BOOST_TEST(reaches(
        owner.id, {"webhook_queue.lock_due", "webhook_queue.claim", "webhook_queue.read_bodies"},
        [&](OrgStore& org) { return claim(org) == 1; }));
    exercised.insert(
        {"webhook_queue.lock_due", "webhook_queue.claim", "webhook_queue.read_bodies"});
}

BOOST_AUTO_TEST_CASE(webhook_queue_under_a_lease) {
    put_delivery(runner);
    check({"webhook_queue.lock_claimed"}, [&](OrgStore& org) {
        return !store::lock_claimed(org, {&owner.delivery, 1}, runner).empty();
    });
    check({"webhook_queue.release"}, [&](OrgStore& org) {
        return store::release_deliveries(org, {&owner.delivery, 1}, runner, kLater) == 1;
    });
    check({"webhook_queue.insert_attempts"}, [&](OrgStore& org) {
        const store::NewAttempt attempt{owner.delivery, "200", 200, 1, "", "", kNow};
        store::insert_attempts(org, {&attempt, 1});
        return false;
    });
    const std::vector<store::NewAttempt> attempts(store::kMostAttemptsShown + 1,
                                                  {owner.delivery, "200", 200, 1, "", "", kNow});
    as(owner.id, [&](service::OrgTransaction& transaction) {
        db::OrgStore org(transaction.tx, owner.id);
        store::insert_attempts(org, attempts);
    });
    const auto trim = [&](OrgStore& org) {
        return store::delete_old_attempts(org, {&owner.delivery, 1});
    };
    // A stranger finds no attempt and sends no second statement.
    BOOST_TEST(!reaches(stranger.id, {"webhook_deliveries.find_old_attempts"},
                        [&](OrgStore& org) { return trim(org) > 0; }));
    const std::vector<std::string> trims{"webhook_deliveries.find_old_attempts",
                                         "webhook_deliveries.delete_old_attempts"};
    BOOST_TEST(reaches(owner.id, trims, [&](OrgStore& org) { return trim(org) > 0; }));
    exercised.insert(trims.begin(), trims.end());
    check({"webhook_queue.set_succeeded"}, [&](OrgStore& org) {
        store::set_succeeded(org, {&owner.delivery, 1}, kLater);
        return false;
    });
    check({"webhook_queue.set_attempted"}, [&](OrgStore& org) {
        store::set_attempted(org, owner.delivery, kLater, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(webhook_queue_and_endpoints) {
    check({"webhook_queue.set_failing"}, [&](OrgStore& org) {
        store::set_failing(org, {&owner.endpoint, 1}, kNow);
        return false;
    });
    client.execute("UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?", kNow,
                   owner.endpoint);
    check({"webhook_queue.find_failing"}, [&](OrgStore& org) {
        return !store::find_failing(org, {&owner.endpoint, 1}).empty();
    });
    check({"webhook_queue.lock_endpoints"}, [&](OrgStore& org) {
        return !store::lock_endpoints(org, {&owner.endpoint, 1}).empty();
    });
    check({"webhook_queue.clear_failing"}, [&](OrgStore& org) {
        store::clear_failing(org, {&owner.endpoint, 1});
        return false;
    });
    check({"webhook_queue.disable_endpoint"}, [&](OrgStore& org) {
        return store::disable_endpoint(org, owner.endpoint, "gone", {}, kNow);
    });
    check({"webhook_queue.cancel_pending"},
          [&](OrgStore& org) { return store::cancel_pending(org, owner.endpoint, kNow, 10) > 0; });
    client.execute("UPDATE webhook_endpoints SET status = 'disabled'");
    check({"webhook_queue.set_installation_error"}, [&](OrgStore& org) {
        store::set_error_without_endpoint(org, owner.installation, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_SUITE_END()
