// The statements of store/connections/leases.cpp that name an organization (see tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/connections/leases.hpp"

using namespace muster;
using db::OrgStore;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

struct Leases : TwoTenants {
    rules::ProviderConnection connection() const {
        rules::ProviderConnection one;
        one.id = owner.connection;
        one.tokens = "others";
        one.token_generation = 1;
        one.updated_at = kLater;
        return one;
    }
    const Uuid runner = Uuid::v7();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy_connection_leases, Leases)

BOOST_AUTO_TEST_CASE(connection_leases) {
    check({"connection_leases.claim"}, [&](OrgStore& org) {
        return store::claim_connection(org, owner.connection, runner, kNow, kLater);
    });
    check({"connection_leases.write_tokens"},
          [&](OrgStore& org) { return store::write_tokens(org, connection(), 1); });
    check({"connection_leases.make_due"}, [&](OrgStore& org) {
        store::make_connection_due(org, owner.connection, kLater);
        return false;
    });
    check({"connection_leases.mark_removed"}, [&](OrgStore& org) {
        store::mark_connection_removed(org, owner.connection, kLater);
        return false;
    });
    check({"connection_leases.delete"},
          [&](OrgStore& org) { return store::delete_connection(org, owner.connection, 1); });
}

BOOST_AUTO_TEST_CASE(connections_under_a_lease) {
    client.execute("UPDATE connections SET lease_owner = ? WHERE organization_id = ?", runner,
                   owner.id);
    check({"connection_leases.write_failure"},
          [&](OrgStore& org) { return store::write_refresh_failure(org, connection(), runner); });
    check({"connection_leases.postpone"}, [&](OrgStore& org) {
        store::postpone_connection(org, owner.connection, runner, 1, kLater);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(removed_connections) {
    client.execute("UPDATE connections SET removed_at = ? WHERE organization_id = ?", kNow,
                   owner.id);
    check({"connection_leases.lock_removed"}, [&](OrgStore& org) {
        return store::lock_removed_connection(org, owner.connection).has_value();
    });
}

BOOST_AUTO_TEST_SUITE_END()
