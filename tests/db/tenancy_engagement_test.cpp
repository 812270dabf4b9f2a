// The statements of the tenancy suite on reading engagement events back and purging them by age
// (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/engagement/events.hpp"
#include "store/operations/purge.hpp"

#include <limits>

using namespace muster;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(engagement_events_read_back) {
    check({"engagement_events.first_pages"}, [&](OrgStore& org) {
        return !store::page_engagement_events(org, owner.member, {}, 9).empty();
    });
    check({"engagement_events.page"}, [&](OrgStore& org) {
        const store::EventPosition end{Timestamp(std::numeric_limits<std::int64_t>::max()), {}};
        return !store::page_engagement_events(org, owner.member, end, 9).empty();
    });
    check({"engagement_events.count_of_member"},
          [&](OrgStore& org) { return store::count_member_events(org, owner.member, 9) > 0; });
    client.run("UPDATE engagement_events SET client_event_id = HEX(id)");
    const std::string theirs = client.value(
        "SELECT client_event_id FROM engagement_events WHERE organization_id = ?", owner.id);
    check({"engagement_events.find_client_events"}, [&](OrgStore& org) {
        return !store::find_client_events(org, {&theirs, 1}).empty();
    });
    check({"purge.engagement_events"}, [&](OrgStore& org) {
        store::purge_engagement_events(org, Timestamp::now(), 9);
        return false;
    });
}

BOOST_AUTO_TEST_SUITE_END()
