// The statements of the tenancy suite on publishable keys (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/pages/publishable_keys.hpp"

using namespace muster;
using rules::PublishableKeyKind;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(publishable_keys) {
    constexpr auto kKind = PublishableKeyKind::Tracking;
    rules::PublishableKey key;
    key.id = PublishableKeyId::create();
    key.name = "Another";
    key.token = "ek_live_another";
    key.allowed_origins = {"https://other.example"};
    key.created_at = kNow;
    check({"publishable_keys.insert"}, [&](OrgStore& org) {
        store::insert_publishable_key(org, key);
        return false;
    });
    client.execute(
        "INSERT INTO publishable_keys (organization_id, id, kind, name, token, allowed_origins, "
        "created_at) VALUES (?, ?, 'content', '', 'ck_live_second', 'https://a.example', 0)",
        owner.id, key.id);
    check({"publishable_keys.count"},
          [](OrgStore& org) { return store::count_publishable_keys(org) == 2; });
    check({"publishable_keys.page"}, [&](OrgStore& org) {
        const auto page = store::page_publishable_keys(org, kKind, {}, kNow, 10);
        return page.size() != 1 || page.front().id == owner.tracking_key;
    });
    check({"publishable_keys.find"}, [&](OrgStore& org) {
        return store::find_publishable_key(org, kKind, owner.tracking_key).has_value();
    });
    check({"publishable_keys.lock"}, [&](OrgStore& org) {
        return store::lock_publishable_key(org, kKind, owner.tracking_key).has_value();
    });
    check({"publishable_keys.write"}, [&](OrgStore& org) {
        key.id = owner.tracking_key;
        store::write_publishable_key(org, key);
        return false;
    });
    check({"publishable_keys.lock_to_touch"}, [&](OrgStore& org) {
        return store::lock_publishable_key_to_touch(org, owner.tracking_key, kLater);
    });
    check({"publishable_keys.touch"}, [&](OrgStore& org) {
        store::touch_publishable_key(org, owner.tracking_key, kLater);
        return false;
    });
    check({"publishable_keys.revoke"}, [&](OrgStore& org) {
        return store::revoke_publishable_key(org, kKind, owner.tracking_key, kLater);
    });
}

BOOST_AUTO_TEST_SUITE_END()
