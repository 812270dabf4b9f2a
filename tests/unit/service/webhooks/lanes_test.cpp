// service/webhooks/lanes.hpp: how many deliveries each endpoint may have in progress, so that
// endpoints do not delay each other.
#include "service/webhooks/lanes.hpp"

#include "print.hpp"

using namespace muster;
using service::Lane;
using service::Lanes;

namespace {

constexpr Timestamp kNow{1'800'000'000'000};

struct Line {
    Lanes lanes{8, 4};

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
    // Claims and starts everything allowed; returns the number of claims.
    std::size_t claim() {
        std::size_t all = 0;
        for (auto& [lane, count] : lanes.next_claims(100, kNow)) {
            all += count;
            lane->ready.resize(lane->ready.size() + count);
            while (lanes.may_start(*lane)) {
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
    lanes = Lanes{32, 4};
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

BOOST_AUTO_TEST_SUITE_END()
