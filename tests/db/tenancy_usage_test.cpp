// The statements of the tenancy suite on discarded imports and on what an organization uses (see
// tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/imports/discards.hpp"
#include "store/organization/usage.hpp"
#include "store/quotas.hpp"

using namespace muster;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(import_discards) {
    check({"import_discards.delete"}, [&](OrgStore& org) {
        store::delete_import_discard(org, owner.job);
        return false;
    });
    client.run("DELETE FROM import_discards");
    check({"import_discards.insert"}, [&](OrgStore& org) {
        store::insert_import_discard(org, owner.job);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(quotas) {
    check({"quotas.add"}, [&](OrgStore& org) {
        store::add_quota_use(org, rules::Quota::StagedBytes, 20'000, 0, 5);
        return false;
    });
    check({"quotas.use"}, [&](OrgStore& org) {
        return store::quota_use(org, rules::Quota::StagedBytes, 20'000) == 7;
    });
}

BOOST_AUTO_TEST_CASE(counts_of_the_usage) {
    const OrgId empty = OrgId::create();
    const auto check_count = [&](const char* name, auto* count) {
        check(
            {name}, [&](OrgStore& org) { return count(org, 1000) > 0; }, empty);
    };
    check_count("usage.modules", store::count_used_modules);
    check_count("usage.publishable_keys", store::count_used_publishable_keys);
    check_count("usage.webhook_endpoints", store::count_used_webhook_endpoints);
    check_count("usage.attributes", store::count_used_attributes);
    check_count("usage.ad_slots", store::count_used_ad_slots);
    check_count("usage.ad_campaigns", store::count_used_ad_campaigns);
    check_count("usage.connections", store::count_used_connections);
    check_count("usage.waiting_deliveries", store::count_waiting_deliveries);
}

BOOST_AUTO_TEST_SUITE_END()
