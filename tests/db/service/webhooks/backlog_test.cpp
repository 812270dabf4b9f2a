// service/webhooks/deliveries.hpp: tests, and deliveries that are sent again, keep to the bound of
// the backlog.
#include "db/webhooks.hpp"

#include "print.hpp"

using namespace muster;
using test::code_of;

namespace {

constexpr std::int64_t kBacklog = 4;

struct Bounded : test::EndpointFixture {
    template <class Work>
    auto with(EndpointId id, const Work& work) {
        return as_admin([&](service::OrgTransaction& transaction) {
            return work(transaction, service::EndpointRef{shop, id});
        });
    }
    void send_test(EndpointId id) {
        with(id, [](auto& transaction, const auto& ref) {
            return service::test_endpoint(transaction, ref, kBacklog);
        });
    }
    void redeliver(EndpointId id, DeliveryId delivery) {
        with(id, [&](auto& transaction, const auto& ref) {
            return service::redeliver(transaction, ref, delivery, kBacklog);
        });
    }
    service::Recovered recover(EndpointId id) {
        return with(id, [](auto& transaction, const auto& ref) {
            const Timestamp since = Timestamp::now() - Milliseconds(3'600'000);
            return service::recover_deliveries(transaction, ref, {since, {}}, kBacklog);
        });
    }
    std::int64_t waiting() {
        return client.number("SELECT COUNT(*) FROM webhook_deliveries WHERE status = 'pending'");
    }

    EndpointId full = create().endpoint.id;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_backlog, Bounded)

BOOST_AUTO_TEST_CASE(at_the_bound_nothing_more_is_queued_and_the_error_says_why) {
    const auto failed = deliver(full, "failed");
    const auto waits = deliver(full, "pending");
    for (int i = 0; i < 3; ++i) deliver(full, "pending");
    BOOST_TEST(code_of([&] { send_test(full); }) == ErrorCode::InvalidState);
    BOOST_TEST(code_of([&] { redeliver(full, failed); }) == ErrorCode::InvalidState);
    BOOST_TEST(code_of([&] { recover(full); }) == ErrorCode::InvalidState);
    BOOST_TEST(waiting() == kBacklog);
    try {
        send_test(full);
    } catch (const Error& error) {
        BOOST_TEST(error.details()["limit"].asInt64() == kBacklog);
        BOOST_TEST(error.details()["reason"].asString().starts_with("too many deliveries"));
    }
    // One that waits already is not one more.
    redeliver(full, waits);
    BOOST_TEST(state(waits) == "pending 0 due");
    client.execute("UPDATE webhook_deliveries SET status = 'succeeded', due_at = NULL WHERE id = ?",
                   waits);
    send_test(full);
    BOOST_TEST(waiting() == kBacklog);
}

BOOST_AUTO_TEST_CASE(a_recovery_ends_at_the_bound_and_says_that_more_remains) {
    for (int i = 0; i < 6; ++i) deliver(full, i < 3 ? "failed" : "canceled");
    const auto piece = recover(full);
    BOOST_TEST(piece.queued == kBacklog);
    BOOST_TEST(piece.has_more);
    BOOST_TEST(code_of([&] { recover(full); }) == ErrorCode::InvalidState);
    client.run(
        "UPDATE webhook_deliveries SET status = 'succeeded', due_at = NULL "
        "WHERE status = 'pending'");
    const auto rest = recover(full);
    BOOST_TEST(rest.queued == 2);
    BOOST_TEST(!rest.has_more);
    for (int i = 0; i < 2; ++i) deliver(full, "pending");
    // At the bound, a recovery that finds nothing succeeds.
    const auto none = recover(full);
    BOOST_TEST(none.queued == 0);
    BOOST_TEST(!none.has_more);
}

BOOST_AUTO_TEST_CASE(at_the_bound_another_endpoint_still_has_its_share) {
    const auto other = create().endpoint.id;
    for (int i = 0; i < 4; ++i) deliver(full, "pending");
    for (int i = 0; i < 3; ++i) deliver(other, "failed");
    send_test(other);
    BOOST_TEST(recover(other).queued == 1);
    BOOST_TEST(code_of([&] { send_test(other); }) == ErrorCode::InvalidState);
    BOOST_TEST(waiting() == 6);
}

BOOST_AUTO_TEST_CASE(a_delivery_that_is_sent_again_within_its_first_minute_keeps_few_attempts) {
    const auto id = deliver(full, "succeeded");
    for (int i = 0; i < 45; ++i) attempt(id, "200", 200);
    redeliver(full, id);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM webhook_attempts") == 40);
}

BOOST_AUTO_TEST_SUITE_END()
