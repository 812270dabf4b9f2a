// The statements of the tenancy suite on pages of members (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/members/list.hpp"

#include <algorithm>

using namespace muster;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(pages_of_members) {
    client.execute("UPDATE members SET external_id = 'E', last_name = 'Lee'");
    const auto has_owner_s = [&](const std::vector<store::MemberKey>& keys) {
        return std::any_of(keys.begin(), keys.end(),
                           [&](const auto& key) { return key.user_id == owner.user; });
    };
    check({"members.find_by_email"}, [&](OrgStore& org) {
        return has_owner_s(store::find_member_key(org, "owner@example.test"));
    });
    check({"members.page"},
          [&](OrgStore& org) { return has_owner_s(store::page_members(org, {}, 10)); });
    check({"members.page_newest"}, [&](OrgStore& org) {
        const MemberId last(*Uuid::from_bytes(std::string(Uuid::kBytes, '\xff')));
        return has_owner_s(store::page_newest_members(org, last, 10));
    });
    check({"members.page_of_status"}, [&](OrgStore& org) {
        return has_owner_s(store::page_members_of_status(org, "active", {}, 10));
    });
    check({"members.page_of_external_id"}, [&](OrgStore& org) {
        return has_owner_s(store::page_members_of_external_id(org, "E", {}, 10));
    });
    check({"members.page_updated"}, [&](OrgStore& org) {
        return has_owner_s(store::page_members_updated(org, Timestamp(0), {}, 10));
    });
    for (const char* prefix : {"l", "m@"}) {
        check({"members.page_by_prefix"}, [&](OrgStore& org) {
            return has_owner_s(store::page_members_by_prefix(org, prefix, {}, 10));
        });
    }
    check({"members.match_attribute"}, [&](OrgStore& org) {
        return store::match_attribute(org, {&owner.user, 1}, {"color", "1"}).bytes > 0;
    });
    check({"members.find_sizes"}, [&](OrgStore& org) {
        return !store::find_member_sizes(org, {&owner.user, 1}).empty();
    });
    check({"members.lock_sizes"}, [&](OrgStore& org) {
        return !store::lock_member_sizes(org, {&owner.user, 1}).empty();
    });
    check({"members.filter"}, [&](OrgStore& org) {
        return !store::filter_members(org, {&owner.user, 1}, {}).empty();
    });
}

BOOST_AUTO_TEST_SUITE_END()
