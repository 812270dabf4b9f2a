// The statements of the tenancy suite on module credentials, engagement events and their erasure
// (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/engagement/events.hpp"
#include "store/members/lookup.hpp"
#include "store/modules/credentials.hpp"
#include "store/privacy/erasure.hpp"

using namespace muster;
using test::kHash;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(module_credentials) {
    check({"module_credentials.insert"}, [&](OrgStore& org) {
        rules::ModuleCredential credential;
        credential.id = CredentialId::create();
        credential.installation_id = owner.installation;
        credential.name = "n";
        credential.last_four = "last";
        store::insert_module_credential(org, credential, kHash, "sealed");
        return false;
    });
    check({"module_credentials.page"}, [&](OrgStore& org) {
        return !store::page_module_credentials(org, owner.installation, {}, kNow, 10).empty();
    });
    check({"module_credentials.count"}, [&](OrgStore& org) {
        return store::count_module_credentials(org, owner.installation) > 0;
    });
    check({"module_credentials.find"}, [&](OrgStore& org) {
        return store::find_module_credential(org, owner.installation, owner.credential).has_value();
    });
    check({"module_credentials.lock"}, [&](OrgStore& org) {
        return store::lock_module_credential(org, owner.installation, owner.credential);
    });
    check({"module_credentials.revoke"}, [&](OrgStore& org) {
        return store::revoke_module_credential(org, owner.credential, kNow);
    });
    check({"module_credentials.lock_to_touch"}, [&](OrgStore& org) {
        return store::lock_module_credential_to_touch(org, owner.credential, kLater);
    });
    check({"module_credentials.touch"}, [&](OrgStore& org) {
        store::touch_module_credential(org, owner.credential, kNow);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(engagement_events) {
    check({"engagement_events.find_manifest"}, [&](OrgStore& org) {
        return store::find_installed_manifest(org, owner.installation).has_value();
    });
    check({"members.find_by_user"}, [&](OrgStore& org) {
        return !store::find_members_by_user(org, {&owner.user, 1}, store::MemberLock::None).empty();
    });
    check({"members.hold_by_user"}, [&](OrgStore& org) {
        return !store::find_members_by_user(org, {&owner.user, 1}, store::MemberLock::Share)
                    .empty();
    });
    check({"members.find_by_id"}, [&](OrgStore& org) {
        return !store::find_members_by_id(org, {&owner.member, 1}, store::MemberLock::None).empty();
    });
    check({"members.hold_by_id"}, [&](OrgStore& org) {
        return !store::find_members_by_id(org, {&owner.member, 1}, store::MemberLock::Share)
                    .empty();
    });
    client.execute("UPDATE members SET external_id = 'crm' WHERE organization_id = ?", owner.id);
    check({"members.find_by_external_id"}, [&](OrgStore& org) {
        const std::string external_id = "crm";
        return !store::find_members_by_external_id(org, {&external_id, 1}, store::MemberLock::None)
                    .empty();
    });
    check({"members.hold_by_external_id"}, [&](OrgStore& org) {
        const std::string external_id = "crm";
        return !store::find_members_by_external_id(org, {&external_id, 1}, store::MemberLock::Share)
                    .empty();
    });
    client.execute("UPDATE engagement_events SET client_event_id = 'his' WHERE id = ?",
                   owner.event);
    check({"engagement_events.find_client_events"}, [&](OrgStore& org) {
        const std::string id = "his";
        return !store::find_client_events(org, {&id, 1}).empty();
    });
    const std::string id = "his";
    check({"engagement_events.find_ingested", "engagement_events.find_ingested_before"},
          [&](OrgStore& org) {
              return !store::find_ingested_events(org, owner.installation, {&id, 1}).empty();
          });
    client.execute(
        "UPDATE engagement_events SET ingest_event_id = client_event_id, client_event_id = NULL "
        "WHERE id = ?",
        owner.event);
    check({"engagement_events.find_ingested", "engagement_events.find_ingested_before"},
          [&](OrgStore& org) {
              return !store::find_ingested_events(org, owner.installation, {&id, 1}).empty();
          });
    check({"engagement_events.insert", "engagement_events.insert_ingested"}, [&](OrgStore& org) {
        rules::EngagementEvent event;
        event.id = EventId::create();
        event.action = "did";
        store::insert_engagement_events(org, std::nullopt, {&event, 1});
        event.id = EventId::create();
        store::insert_engagement_events(org, owner.installation, {&event, 1});
        return false;
    });
}

BOOST_AUTO_TEST_CASE(events_of_a_person) {
    check({"erasure.count_engagement_events"},
          [&](OrgStore& org) { return store::count_engagement_events(org, owner.member) > 0; });
    check({"erasure.delete_engagement_events"},
          [&](OrgStore& org) { return store::delete_engagement_events(org, owner.member, 9) > 0; });
    check({"erasure.delete_webhook_events"},
          [&](OrgStore& org) { return store::delete_webhook_events(org, owner.user, 9) > 0; });
}

BOOST_AUTO_TEST_SUITE_END()
