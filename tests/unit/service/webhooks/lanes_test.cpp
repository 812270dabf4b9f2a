// service/webhooks/lanes.hpp: how many deliveries each endpoint may have in progress, so that
// endpoints do not delay each other, and how much memory their bodies may use.
#include "service/webhooks/lanes.hpp"

#include "print.hpp"

using namespace muster;
using service::Lane;
using service::Lanes;

namespace {

const SteadyTime kNow = steady_now();
constexpr std::size_t kClaim = Lanes::kClaimBytes;

using Body = std::shared_ptr<const std::string>;

struct Line {
    Lanes lanes{8, 4, 100 * kClaim};
    std::size_t body_size = 0;  // of claimed deliveries
    std::vector<Body> in_flight;

    Lane& add(OrgId organization = OrgId::create()) {
        Lane& lane = lanes.lane(organization, EndpointId::create());
        lanes.enqueue(lane);
        return lane;
    }
    Lane& add_failing(OrgId organization = OrgId::create()) {
        Lane& lane = add(organization);
        lane.fails = true;
        return lane;
    }
    // An endpoint that has delivered before, in that time.
    Lane& add_proven(Milliseconds took) {
        Lane& lane = add();
        lane.in_flight = 1;
        lanes.note_result(lane, true, took);
        return lane;
    }
    void add_many(OrgId organization, int count) {
        for (int i = 0; i < count; ++i) add(organization);
    }
    Body body(OrgId organization, std::size_t size,
              WebhookEventId event = WebhookEventId::create()) {
        return lanes.share_body(organization, event,
                                std::make_shared<const std::string>(size, 'x'));
    }
    // Claims and starts everything allowed; returns the number of claims.
    std::size_t claim() {
        std::size_t all = 0;
        for (auto& [lane, count] : lanes.next_claims(100, kNow)) {
            all += count;
            for (std::size_t i = 0; i < count; ++i) {
                lane->ready.emplace_back().body = body(lane->organization, body_size);
            }
            while (lanes.may_start(*lane)) {
                in_flight.push_back(std::move(lane->ready.front().body));
                lane->ready.pop_front();
                ++lane->in_flight;
            }
        }
        return all;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(webhook_lanes, Line)

BOOST_AUTO_TEST_CASE(a_new_endpoint_has_one_connection) {
    Lane& lane = add();
    BOOST_TEST(claim() == 1U);
    BOOST_TEST(lane.in_flight == 1U);
    lanes.enqueue(lane);
    BOOST_TEST(claim() == 0U);
}

BOOST_AUTO_TEST_CASE(a_working_endpoint_has_its_limit_and_a_fast_one_also_claims_ahead) {
    Lane& steady = add_proven(Milliseconds(500));
    BOOST_TEST(claim() == 4U);
    BOOST_TEST(steady.in_flight == 4U);
    Lane& quick = add_proven(Milliseconds(5));
    BOOST_TEST(claim() == 16U);
    BOOST_TEST(quick.in_flight == 4U);
    BOOST_TEST(quick.ready.size() == 12U);
}

BOOST_AUTO_TEST_CASE(failing_endpoints_have_one_connection_each_and_half_of_all_together) {
    for (int i = 0; i < 20; ++i) add_failing();
    BOOST_TEST(claim() == 4U);
    Lane& healthy = add_proven(Milliseconds(500));
    BOOST_TEST(claim() == 4U);
    BOOST_TEST(healthy.in_flight == 4U);
}

BOOST_AUTO_TEST_CASE(slow_endpoints_share_the_half_of_the_failing_ones) {
    for (int i = 0; i < 4; ++i) add_proven(Milliseconds(14'000));
    BOOST_TEST(claim() == 4U);
    add();
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_CASE(claims_do_not_exceed_the_connections) {
    for (int i = 0; i < 20; ++i) add();
    BOOST_TEST(claim() == 8U);
    BOOST_TEST(claim() == 0U);
}

BOOST_AUTO_TEST_CASE(an_organization_leaves_a_quarter_of_the_connections_to_others) {
    const OrgId greedy = OrgId::create();
    for (int i = 0; i < 20; ++i) add(greedy);
    BOOST_TEST(claim() == 6U);
    const OrgId other = OrgId::create();
    for (int i = 0; i < 3; ++i) add(other);
    BOOST_TEST(claim() == 2U);
}

BOOST_AUTO_TEST_CASE(its_failing_endpoints_leave_a_quarter_of_their_half) {
    lanes = Lanes{32, 4, 100 * kClaim};
    const OrgId greedy = OrgId::create();
    for (int i = 0; i < 20; ++i) add_failing(greedy);
    BOOST_TEST(claim() == 12U);
    for (int i = 0; i < 4; ++i) add_failing();
    BOOST_TEST(claim() == 4U);
    add(greedy);
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_CASE(an_endpoint_without_a_connection_keeps_its_position_in_the_queue) {
    std::vector<Lane*> all;
    for (int i = 0; i < 12; ++i) all.push_back(&add());
    claim();
    BOOST_TEST(all[8]->is_queued);
    for (int i = 0; i < 8; ++i) {
        lanes.note_result(*all[static_cast<std::size_t>(i)], true, Milliseconds(5));
        lanes.enqueue(*all[static_cast<std::size_t>(i)]);
    }
    const auto claims = lanes.next_claims(4, kNow);
    BOOST_REQUIRE(claims.size() == 4U);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(claims[i].first == all[8 + i]);
}

BOOST_AUTO_TEST_CASE(an_endpoint_that_begins_to_fail_starts_nothing_until_its_last_post_ends) {
    Lane& lane = add_proven(Milliseconds(5));
    claim();
    lanes.note_result(lane, false, Milliseconds(5));
    BOOST_TEST(!lanes.may_start(lane));
    for (int i = 0; i < 3; ++i) lanes.note_result(lane, false, Milliseconds(5));
    BOOST_TEST(lanes.may_start(lane));
    lanes.enqueue(lane);
    BOOST_TEST(lanes.next_claims(9, kNow).empty());
}

BOOST_AUTO_TEST_CASE(a_delivery_is_not_claimed_before_its_time) {
    Lane& lane = add();
    lane.not_before = kNow + Milliseconds(1);
    BOOST_TEST(claim() == 0U);
    BOOST_TEST(!lane.is_queued);
    lane.not_before = kNow;
    lanes.enqueue(lane);
    BOOST_TEST(claim() == 1U);
}

// ---------------------------------------------------------------------------- memory

BOOST_AUTO_TEST_CASE(an_organization_claims_a_quarter_of_the_bytes_that_others_leave) {
    lanes = Lanes{64, 4, 16 * kClaim};
    body_size = kClaim;
    const OrgId greedy = OrgId::create();
    add_many(greedy, 20);
    BOOST_TEST(claim() == 4U);
    BOOST_TEST(claim() == 0U);
    BOOST_TEST(lanes.has_waiting());
    const OrgId other = OrgId::create();
    add_many(other, 20);
    BOOST_TEST(claim() == 3U);
    add_many(OrgId::create(), 20);
    BOOST_TEST(claim() == 2U);
}

BOOST_AUTO_TEST_CASE(claims_of_the_same_call_count_at_their_largest_size) {
    lanes = Lanes{64, 4, 16 * kClaim};
    add_many(OrgId::create(), 20);
    add_many(OrgId::create(), 20);
    BOOST_TEST(claim() == 7U);
    BOOST_TEST(claim() == 7U);  // the bodies were small
}

BOOST_AUTO_TEST_CASE(an_organization_without_a_body_in_memory_claims_while_any_byte_is_left) {
    lanes = Lanes{64, 4, 2 * kClaim};
    body_size = 2 * kClaim - 1;
    const OrgId first = OrgId::create();
    add_many(first, 3);
    BOOST_TEST(claim() == 1U);
    BOOST_TEST(claim() == 0U);
    add(OrgId::create());
    BOOST_TEST(claim() == 1U);
    add(OrgId::create());
    BOOST_TEST(claim() == 0U);
    in_flight.clear();
    BOOST_TEST(claim() == 2U);  // one of the first organization, and the last one's
}

BOOST_AUTO_TEST_CASE(a_body_counts_until_its_last_delivery_releases_it) {
    lanes = Lanes{64, 4, 4 * kClaim};
    const OrgId organization = OrgId::create();
    Lane& lane = add(organization);
    const auto event = WebhookEventId::create();
    for (int i = 0; i < 8; ++i) {
        lane.ready.emplace_back().body = body(organization, kClaim, event);
    }
    Body posted = lane.ready.front().body;
    BOOST_TEST(posted == lane.ready.back().body);
    add(organization);
    BOOST_TEST(claim() == 0U);
    lane.ready.clear();  // the endpoint was disabled
    BOOST_TEST(claim() == 0U);
    posted.reset();  // the request ended
    body_size = kClaim;
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_CASE(events_with_the_same_id_of_two_organizations_have_bodies_of_their_own) {
    const auto event = WebhookEventId::create();
    const Body one = body(OrgId::create(), 1, event);
    const Body other = body(OrgId::create(), 2, event);
    BOOST_TEST(one->size() == 1U);
    BOOST_TEST(other->size() == 2U);
}

BOOST_AUTO_TEST_CASE(after_a_claim_that_was_cut_the_next_asks_for_at_most_twice_as_many) {
    Lane& lane = add_proven(Milliseconds(5));
    const auto next = [&] {
        const auto claims = lanes.next_claims(1, kNow);
        return claims.empty() ? 0 : claims.front().second;
    };
    BOOST_TEST(next() == 16U);
    lanes.note_claim(lane, 1, true, true);
    BOOST_TEST(lane.is_queued);
    BOOST_TEST(next() == 2U);
    lanes.note_claim(lane, 2, true, false);
    BOOST_TEST(next() == 16U);
    lanes.note_claim(lane, 1, false, false);
    BOOST_TEST(!lane.is_queued);
}

BOOST_AUTO_TEST_CASE(an_endpoint_without_memory_keeps_its_position_in_the_queue) {
    lanes = Lanes{64, 4, 4 * kClaim};
    body_size = kClaim;
    const OrgId organization = OrgId::create();
    add(organization);
    Lane& second = add(organization);
    Lane& third = add(organization);
    BOOST_TEST(claim() == 1U);
    in_flight.clear();
    add(organization);
    BOOST_TEST(claim() == 1U);
    BOOST_TEST(second.in_flight == 1U);
    BOOST_TEST(third.in_flight == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
