// The statements of the tenancy suite on an organization itself: its record, summary, recent events
// and deletion (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/access/organizations.hpp"
#include "store/engagement/events.hpp"
#include "store/organization/deletion.hpp"
#include "store/organization/status.hpp"
#include "store/organization/summary.hpp"

#include <algorithm>

using namespace muster;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(the_record_of_an_organization) {
    const OrgId unknown = OrgId::create();
    check(
        {"organizations.read_and_lock"},
        [](OrgStore& org) { return store::read_and_lock_organization(org).has_value(); }, unknown);
    // The snapshot does not show the table of the organizations.
    database.transaction([&](db::Tx& tx) {
        OrgStore org(tx, stranger.id);
        store::set_organization_name(org, "Changed");
        store::set_organization_disabled(org, kNow);
    });
    BOOST_TEST(client.column("SELECT name FROM organizations WHERE disabled_at IS NOT NULL") ==
               std::vector<std::string>{"Changed"});
    BOOST_TEST(client.column("SELECT name FROM organizations WHERE disabled_at IS NULL") ==
               std::vector<std::string>{"owner"});
    exercised.insert({"organizations.set_name", "organizations.set_disabled"});
    put_job("validating", Uuid::v7());
    check({"organization_status.end_import_lease", "organization_status.end_member_job_lease"},
          [](OrgStore& org) {
              store::end_job_leases(org);
              return false;
          });
}

BOOST_AUTO_TEST_CASE(recent_events) {
    check({"engagement_events.page_recent"}, [&](OrgStore& org) {
        const auto events = store::page_recent_events(org, Timestamp(0), std::nullopt, 9);
        return std::any_of(events.begin(), events.end(),
                           [&](const auto& event) { return event.id == owner.event; });
    });
}

BOOST_AUTO_TEST_CASE(counts_of_the_summary) {
    const OrgId empty = OrgId::create();
    const auto check_count = [&](std::vector<std::string> names, const auto& count) {
        check(
            names, [&](OrgStore& org) { return count(org) > 0; }, empty);
    };
    check_count({"summary.members_of_status"},
                [](OrgStore& org) { return store::count_members_of_status(org, "active", 9); });
    check_count({"summary.members_changed"},
                [](OrgStore& org) { return store::count_members_changed(org, Timestamp(0), 9); });
    check_count({"summary.active_import"},
                [](OrgStore& org) { return store::find_active_import(org, kNow) ? 1 : 0; });
    for (const char* table : {"api_keys", "publishable_keys", "module_credentials"}) {
        client.execute("UPDATE " + std::string(table) + " SET expires_at = ?", kLater);
    }
    check_count({"summary.api_keys", "summary.publishable_keys", "summary.module_credentials"},
                [](OrgStore& org) {
                    const auto keys = store::count_keys(org, kNow, kLater);
                    return keys.valid.api_keys + keys.valid.tracking_keys + keys.expiring.api_keys +
                           keys.expiring.module_credentials;
                });
    check_count({"summary.seats", "summary.invitations"}, [](OrgStore& org) {
        const auto team = store::count_team(org, kNow);
        return team.owners + team.admins + team.viewers + team.invited_owners + team.invited_others;
    });
    check_count({"summary.attributes"},
                [](OrgStore& org) { return store::count_enabled_attributes(org); });
    check_count({"summary.webhook_endpoints"}, [](OrgStore& org) {
        const auto counts = store::count_endpoints_by_state(org);
        return counts.active + counts.failing + counts.paused + counts.disabled;
    });
    check_count({"summary.connections"},
                [](OrgStore& org) { return store::count_connections_of(org).connected; });
    check_count(
        {"summary.published_articles", "summary.scheduled_articles", "summary.draft_articles"},
        [](OrgStore& org) {
            return store::count_articles_by_status(org, Timestamp::now(), 9).published;
        });
    check_count({"summary.ad_days"},
                [](OrgStore& org) { return store::sum_ad_days(org, 19'997).impressions; });
}

BOOST_AUTO_TEST_CASE(the_deletion_of_an_organization) {
    check(
        {"organization_deletions.lock"},
        [&](OrgStore& org) { return store::lock_organization_deletion(org); }, OrgId::create());
    check({"organization_deletions.add_rows"}, [&](OrgStore& org) {
        store::add_deleted_rows(org, 1);
        return false;
    });
    check(
        {"organization_deletions.find_rows"},
        [&](OrgStore& org) { return store::find_deleted_rows(org).has_value(); }, OrgId::create());
    check({"organization_rows.remove_connections"}, [&](OrgStore& org) {
        store::remove_all_connections(org, kNow);
        return false;
    });
    client.execute("DELETE FROM organization_deletions WHERE organization_id = ?", owner.id);
    check({"organization_deletions.insert"}, [&](OrgStore& org) {
        const bool is_inserted = store::insert_organization_deletion(org, kNow);
        return is_inserted && org.org() == owner.id;
    });
}

// Each table's own statements: the stranger's deletion leaves the owner as it is.
BOOST_AUTO_TEST_CASE(the_deletion_of_the_rows_of_an_organization) {
    client.run("UPDATE connections SET tokens = NULL");
    client.run("UPDATE audit_log SET created_at = 1, id = UNHEX(CONCAT('00', SUBSTR(HEX(id), 3)))");
    const auto erase_all = [&](const OrgId& id) {
        for (const store::TenantTable& table : store::tenant_tables()) {
            database.transaction([&](db::Tx& tx) {
                OrgStore org(tx, id);
                BOOST_TEST(table.count(org, 1) == 1, table.name);
                (void)table.erase(tx, org, 100);
                BOOST_TEST(table.count(org, 1) == 0, table.name);
            });
        }
    };
    const auto before = client.snapshot(owner.id);
    erase_all(stranger.id);
    BOOST_TEST(client.snapshot(owner.id) == before);
    database.transaction([&](db::Tx& tx) {
        OrgStore org(tx, stranger.id);
        BOOST_TEST(store::delete_organization(tx, org));
    });
    BOOST_TEST(client.snapshot(owner.id) == before);
    exercised.insert({"organization_rows.delete_connections", "organization_rows.find_members",
                      "organization_rows.delete_members", "organization_rows.count_sessions",
                      "organization_rows.find_sessions", "organization_rows.find_audit_log",
                      "organization_rows.find_seats", "organization_rows.delete_audit_log",
                      "organization_deletions.delete", "organizations.delete"});
}

BOOST_AUTO_TEST_SUITE_END()
