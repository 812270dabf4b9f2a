// The statements of the tenancy suite on seats and invitations (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "store/access/admins.hpp"
#include "store/access/invitations.hpp"
#include "store/privacy/erasure.hpp"

using namespace muster;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(seats_of_a_team) {
    const auto has_owner_s = [&](const std::vector<rules::SeatHolder>& holders) {
        return holders.size() != 1 || holders.front().admin_id == owner.admin;
    };
    check({"seats.page"},
          [&](OrgStore& org) { return has_owner_s(store::page_seat_holders(org, {}, 10)); });
    check({"seats.lock"}, [&](OrgStore& org) {
        const auto seats = store::lock_seats(org);
        return seats.size() != 1 || seats.front().admin_id == owner.admin;
    });
    check({"seats.find_by_email"},
          [](OrgStore& org) { return store::has_seat(org, "owner@example.test"); });
    check({"seats.find_holder"},
          [&](OrgStore& org) { return store::find_seat_holder(org, owner.admin).has_value(); });
    check({"seats.set_role"}, [&](OrgStore& org) {
        store::set_role(org, owner.admin, "viewer");
        return false;
    });
}

BOOST_AUTO_TEST_CASE(invitations) {
    check({"seat_invitations.insert"}, [&](OrgStore& org) {
        // The stranger has no such address: the invitation of the owner does not block it.
        const std::string email =
            org.org() == owner.id ? "guest@example.test" : "only.the.owner@example.test";
        return !store::insert_invitation(org, {rules::InvitationId::create(),
                                               email,
                                               rules::Role::Viewer,
                                               {},
                                               {},
                                               kNow,
                                               kNow,
                                               kLater});
    });
    check({"seat_invitations.page"}, [&](OrgStore& org) {
        const auto page = store::page_invitations(org, {}, 10);
        return page.size() != 1 || page.front().id == owner.invitation;
    });
    check({"seat_invitations.lock", "seat_invitations.find"}, [&](OrgStore& org) {
        if (org.org() == owner.id) return store::lock_invitation(org, owner.invitation).has_value();
        // Its own one, so that both statements run.
        return store::lock_invitation(org, stranger.invitation)->id == owner.invitation;
    });
    check({"seat_invitations.find_id"}, [&](OrgStore& org) {
        return store::find_invitation_id(org, "guest@example.test") == owner.invitation;
    });
    check({"seat_invitations.renew"}, [&](OrgStore& org) {
        store::renew_invitation(org, owner.invitation, {}, kLater, kLater);
        return false;
    });
    check({"seat_invitations.lock_by"},
          [&](OrgStore& org) { return !store::lock_invitations_by(org, owner.admin).empty(); });
    check({"erasure.delete_invitation"}, [](OrgStore& org) {
        store::delete_invitation_of(org, "guest@example.test");
        return false;
    });
    check({"seat_invitations.delete"},
          [&](OrgStore& org) { return store::delete_invitation(org, owner.invitation); });
    client.execute("DELETE FROM seat_invitations WHERE organization_id = ?", stranger.id);
    check({"seat_invitations.count"},
          [](OrgStore& org) { return store::count_invitations(org) == 1; });
}

BOOST_AUTO_TEST_CASE(an_invitation_of_another_tenant_is_not_locked) {
    as(stranger.id, [&](service::OrgTransaction& transaction) {
        OrgStore org(transaction.tx, stranger.id);
        BOOST_TEST(!store::lock_invitation(org, owner.invitation).has_value());
    });
}

BOOST_AUTO_TEST_SUITE_END()
