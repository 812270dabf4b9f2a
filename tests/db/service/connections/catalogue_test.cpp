// service/connections/catalogue.hpp: the providers of the catalog, and the status shown for a
// connection without a callback.
#include "db/connecting.hpp"

#include "print.hpp"

#include <algorithm>

using namespace muster;
using test::code_of;
using test::ConnectingFixture;

BOOST_FIXTURE_TEST_SUITE(connections, ConnectingFixture)

BOOST_AUTO_TEST_CASE(the_catalog_lists_all_providers_and_the_missing_settings) {
    const auto entries = service::provider_catalog(own.providers);
    BOOST_TEST(entries.size() == 15U);
    for (const auto& entry : entries) {
        BOOST_TEST(entry.ready == own.providers.contains(entry.provider), entry.provider);
        BOOST_TEST(entry.ready == entry.reason.empty(), entry.provider);
    }
}

BOOST_AUTO_TEST_CASE(the_list_requires_a_seat) {
    const auto made = begin();
    const OrgId other = organization("Globex");
    BOOST_TEST(list().at(0).id == made.id);
    BOOST_TEST(
        (code_of([&] { service::list_connections(console, ann, other); }) == ErrorCode::NotFound));
    BOOST_TEST(code_of([&] { service::list_connections(console, ann, OrgId::create()); }) ==
               ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(without_any_provider_the_list_is_unavailable) {
    own.providers.clear();
    BOOST_TEST(code_of([&] { list(); }) == ErrorCode::ProviderUnavailable);
    BOOST_TEST(code_of([&] { service::require_ready(*request().provider, own.providers); }) ==
               ErrorCode::ProviderUnavailable);
}

BOOST_AUTO_TEST_CASE(a_missing_callback_is_shown_as_an_error_and_stored_as_pending) {
    const auto made = begin();
    BOOST_TEST(list()[0].status == rules::ConnectionStatus::Pending);
    client.execute("UPDATE connection_authorizations SET expires_at = ?", Timestamp::now());
    const auto shown = list()[0];
    BOOST_TEST(shown.status == rules::ConnectionStatus::Error);
    BOOST_TEST(shown.error.value() ==
               "The authorization at GitLab was not completed in time. Connect it again.");
    BOOST_TEST(status_of(made.id) == "pending: ");
}

BOOST_AUTO_TEST_CASE(an_exchange_may_take_a_minute) {
    const auto made = begin();
    client.run("DELETE FROM connection_authorizations");
    BOOST_TEST(list()[0].status == rules::ConnectionStatus::Pending);
    client.execute("UPDATE connections SET updated_at = updated_at - 60000");
    BOOST_TEST(list()[0].status == rules::ConnectionStatus::Error);
    BOOST_TEST(status_of(made.id) == "pending: ");
}

BOOST_AUTO_TEST_CASE(expired_access_is_shown_as_an_error_before_the_runner_notices) {
    const auto made = begin();
    client.run("DELETE FROM connection_authorizations");
    client.execute(
        "UPDATE connections SET status = 'connected', tokens = 't', token_generation = 1, "
        "access_expires_at = ?",
        Timestamp::now() + test::kMinute);
    BOOST_TEST(list()[0].status == rules::ConnectionStatus::Connected);
    client.execute("UPDATE connections SET access_expires_at = ?", Timestamp::now());
    BOOST_TEST(list()[0].status == rules::ConnectionStatus::Error);
    BOOST_TEST(list()[0].error.value() ==
               "The access to GitLab has expired and was not renewed in time.");
    client.run("UPDATE connections SET error = 'GitLab has trouble of its own (http_503).'");
    BOOST_TEST(list()[0].error.value() == "GitLab has trouble of its own (http_503).");
    BOOST_TEST(status_of(made.id).starts_with("connected: "));
}

BOOST_AUTO_TEST_CASE(a_removed_connection_is_not_found) {
    const auto made = begin();
    client.run("UPDATE connections SET removed_at = 1");
    BOOST_TEST(list().empty());
    service::ConnectRequest again = request();
    again.connection = made.id;
    BOOST_TEST(code_of([&] { begin(again); }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_SUITE_END()
