// service/connections/tokens.hpp: rare events at the wrong moment leave the tokens consistent.
#include "db/connections.hpp"
#include "service/connections/refresh.hpp"

using namespace muster;
using test::kHour;
using test::ProviderServer;
using test::ServedRequest;

BOOST_FIXTURE_TEST_SUITE(connection_oddities, test::ConnectionFixture)

BOOST_AUTO_TEST_CASE(a_clock_that_was_set_back_does_not_prevent_a_refresh) {
    const auto id = connected();
    set(id, "token_generation", 2);
    set(id, "refreshed_at", Timestamp::now() + kHour);
    set(id, "updated_at", Timestamp::now() + kHour);
    BOOST_TEST(service::refresh_connection(mine, admin(), id, test::kMayWait).state ==
               service::RefreshState::Done);
    BOOST_TEST(server.calls() == 1U);
    set(id, "refreshed_at", Timestamp::now() + Milliseconds(500));  // another machine's clock
    (void)service::refresh_connection(mine, admin(), id, test::kMayWait);
    BOOST_TEST(server.calls() == 1U);
}

BOOST_AUTO_TEST_CASE(an_outdated_refresh_plan_makes_no_call) {
    const auto id = connected();
    auto plan = service::plan_refresh(mine, row(id));
    plan.made_at -= service::kConnectionLease / 2 + Milliseconds(1);
    const auto outcome = service::refresh_claimed(mine, admin(), plan, row(id), Uuid::v7());
    BOOST_TEST(!outcome.was_written);
    BOOST_TEST(server.calls() == 0U);
    BOOST_TEST(tokens(id) == "a0 r0");
}

BOOST_AUTO_TEST_CASE(a_failed_exchange_does_not_affect_a_new_authorization) {
    const auto id = pending();
    server.answer([&](const ServedRequest&) {
        set(id, "updated_at", Timestamp::now());  // as a new authorization in parallel does
        return ProviderServer::answering(400, R"({"error":"invalid_grant"})");
    });
    BOOST_TEST(service::exchange_code(mine, admin(), grant(id)).has_value());
    BOOST_TEST(row(id).status == rules::ConnectionStatus::Pending);
}

BOOST_AUTO_TEST_CASE(tokens_are_stored_with_the_host_that_issued_them) {
    set_up("shopify", server);
    const auto id = pending("shopify");
    set(id, "host", "mine.myshopify.com");
    server.answer([&](const ServedRequest&) {
        // A parallel authorization for another shop.
        set(id, "host", "other.myshopify.com");
        return ProviderServer::answering(200, ProviderServer::granted(1));
    });
    BOOST_TEST(!service::exchange_code(mine, admin(), grant(id)).has_value());
    BOOST_TEST(tokens(id) == "a1 r1");
    BOOST_TEST(row(id).host == "mine.myshopify.com");
}

BOOST_AUTO_TEST_SUITE_END()
