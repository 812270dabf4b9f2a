// service/webhooks/lanes.hpp: who may have how much under way, so that nobody delays anybody else.
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
    // One that has delivered before, in that time.
    Lane& add_proven(Milliseconds took) {
        Lane& lane = add();
        lane.in_flight = 1;
        lanes.note_result(lane, true, took);
        return lane;
    }
    // Claims and starts all that may be: how much was claimed.
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

BOOST_AUTO_TEST_CASE(an_endpoint_that_has_shown_nothing_has_one_connection) {
    Lane& lane = add();
    BOOST_TEST(claim() == 1U);
    BOOST_TEST(lane.in_flight == 1U);
    lanes.enqueue(lane);
    BOOST_TEST(claim() == 0U);
}

BOOST_AUTO_TEST_CASE(one_that_delivers_has_its_bound_and_a_quick_one_work_ahead) {
    Lane& steady = add_proven(Milliseconds(500));
    BOOST_TEST(claim() == 4U);
    BOOST_TEST(steady.in_flight == 4U);
    Lane& quick = add_proven(Milliseconds(5));
    BOOST_TEST(claim() == 16U);
    BOOST_TEST(quick.in_flight == 4U);
    BOOST_TEST(quick.ready.size() == 12U);
}

BOOST_AUTO_TEST_CASE(failing_ones_have_one_each_and_half_together) {
    for (int i = 0; i < 20; ++i) add_failing();
    BOOST_TEST(claim() == 4U);
    Lane& healthy = add_proven(Milliseconds(500));
    BOOST_TEST(claim() == 4U);
    BOOST_TEST(healthy.in_flight == 4U);
}

BOOST_AUTO_TEST_CASE(slow_ones_share_the_half_of_the_failing_ones) {
    for (int i = 0; i < 4; ++i) add_proven(Milliseconds(14'000));
    BOOST_TEST(claim() == 4U);
    add();
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_CASE(no_more_is_claimed_than_there_are_connections) {
    for (int i = 0; i < 20; ++i) add();
    BOOST_TEST(claim() == 8U);
    BOOST_TEST(claim() == 0U);
}

BOOST_AUTO_TEST_CASE(an_organization_leaves_a_quarter_to_those_that_have_few) {
    const OrgId greedy = OrgId::create();
    for (int i = 0; i < 20; ++i) add(greedy);
    BOOST_TEST(claim() == 6U);
    const OrgId other = OrgId::create();
    for (int i = 0; i < 3; ++i) add(other);
    BOOST_TEST(claim() == 2U);
}

BOOST_AUTO_TEST_CASE(its_failing_ones_leave_a_quarter_of_their_half) {
    lanes = Lanes{32, 4};
    const OrgId greedy = OrgId::create();
    for (int i = 0; i < 20; ++i) add_failing(greedy);
    BOOST_TEST(claim() == 12U);
    for (int i = 0; i < 4; ++i) add_failing();
    BOOST_TEST(claim() == 4U);
    add(greedy);
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_CASE(who_found_no_connection_keeps_the_place_in_the_line) {
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

BOOST_AUTO_TEST_CASE(one_that_begins_to_fail_starts_no_more_until_its_last_has_ended) {
    Lane& lane = add_proven(Milliseconds(5));
    claim();
    lanes.note_result(lane, false, Milliseconds(5));
    BOOST_TEST(!lanes.may_start(lane));
    for (int i = 0; i < 3; ++i) lanes.note_result(lane, false, Milliseconds(5));
    BOOST_TEST(lanes.may_start(lane));
    lanes.enqueue(lane);
    BOOST_TEST(lanes.next_claims(9, kNow).empty());
}

BOOST_AUTO_TEST_CASE(nothing_is_claimed_before_its_time) {
    Lane& lane = add();
    lane.not_before = kNow + Milliseconds(1);
    BOOST_TEST(claim() == 0U);
    BOOST_TEST(!lane.is_queued);
    lane.not_before = kNow;
    lanes.enqueue(lane);
    BOOST_TEST(claim() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
