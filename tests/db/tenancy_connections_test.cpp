// The statements of the tenancy suite on connections and their authorizations (see
// tenancy_test.cpp).
#include "base/crypto.hpp"
#include "db/two_tenants.hpp"
#include "store/connections/authorizations.hpp"
#include "store/connections/connections.hpp"

#include <algorithm>

using namespace muster;
using test::kLater;
using test::kNow;
using test::OrgStore;
using test::TwoTenants;

namespace {

rules::ProviderConnection connection(ConnectionId id) {
    rules::ProviderConnection connection;
    connection.id = id;
    connection.provider = "slack";
    connection.name = "Later chat";
    connection.status = rules::ConnectionStatus::Error;
    connection.error = "late";
    connection.created_at = connection.updated_at = kLater;
    return connection;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy, TwoTenants)

BOOST_AUTO_TEST_CASE(connections) {
    check({"connections.insert"}, [&](OrgStore& org) {
        store::insert_connection(org, connection(ConnectionId::create()));
        return false;
    });
    check({"connections.set_status"}, [&](OrgStore& org) {
        store::set_connection_status(org, connection(owner.connection));
        return false;
    });
    check({"connections.rename"}, [&](OrgStore& org) {
        store::rename_connection(org, connection(owner.connection));
        return false;
    });
    check({"connections.find_listed"}, [&](OrgStore& org) {
        return store::find_listed_connection(org, owner.connection).has_value();
    });
    check({"connections.find"},
          [&](OrgStore& org) { return store::find_connection(org, owner.connection).has_value(); });
    check({"connections.lock"},
          [&](OrgStore& org) { return store::lock_connection(org, owner.connection).has_value(); });
    check({"connections.list"}, [&](OrgStore& org) {
        const auto list = store::list_connections(org);
        return std::any_of(list.begin(), list.end(), [&](const store::ListedConnection& listed) {
            return listed.connection.id == owner.connection;
        });
    });
    client.execute("DELETE FROM connection_authorizations WHERE organization_id = ?", stranger.id);
    client.execute("DELETE FROM connections WHERE organization_id = ?", stranger.id);
    check({"connections.count_for_adding"},
          [&](OrgStore& org) { return store::lock_and_count_connections(org) > 0; });
}

BOOST_AUTO_TEST_CASE(connection_authorizations) {
    check({"connection_authorizations.replace"}, [&](OrgStore& org) {
        store::replace_authorization(
            org, {org.org(), owner.connection, sha256("another state"), SessionId::create(),
                  "sealed", "https://console.example/callback", kLater});
        return false;
    });
}

BOOST_AUTO_TEST_SUITE_END()
