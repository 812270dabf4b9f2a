// service/connections/tokens.hpp, refresher.hpp: rare events at the wrong moment leave the tokens
// consistent.
#include "db/connections.hpp"
#include "service/connections/refresh.hpp"
#include "service/connections/refresher.hpp"

using namespace muster;
using test::holds;
using test::kHour;
using test::kMark;
using test::ProviderContext;
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

// The lease of a slow refresh ends before the removal, and its tokens arrive afterwards.
BOOST_AUTO_TEST_CASE(tokens_written_during_a_revocation_are_revoked_too) {
    const auto id = connected();
    as(acme, [&](service::OrgTransaction& transaction) {
        service::remove_connection(transaction, mine, id);
    });
    server.answer([&](const ServedRequest&) {
        if (server.calls("/revoke") == 1) {
            rules::ProviderConnection newer;
            newer.id = id;
            newer.details = "{}";
            newer.tokens = service::seal_tokens(context.keys, acme, id,
                                                {Secret("a9" + std::string(kMark)), std::nullopt});
            ProviderContext(own).database.transaction([&](db::Tx& tx) {
                db::OrgStore org(tx, acme);
                BOOST_TEST(store::write_tokens(org, newer, 1));
            });
        }
        return ProviderServer::answering(200, "");
    });
    service::ConnectionRefresher refresher(mine, std::make_shared<service::ProviderLimits>());
    for (int i = 0; i < 2; ++i) BOOST_TEST(refresher.step([] { return false; }) == 1);
    BOOST_TEST_REQUIRE(server.calls("/revoke") == 2U);
    BOOST_TEST(holds(server.requests("/revoke").at(1).body, "token=a9hushhush"));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM connections") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
