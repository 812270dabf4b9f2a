#include "rules/ads/obstacles.hpp"

#include "print.hpp"

using namespace muster;
using rules::AdObstacle;
using Obstacles = std::vector<AdObstacle>;

namespace {

const Timestamp kDay = Timestamp() + std::chrono::days(20'000);
const Timestamp kNoon = kDay + std::chrono::hours(12);
const rules::AdSize kBanner{728, 90};
const rules::AdSizes kFits{{kBanner}, {kBanner}};

rules::AdCampaign campaign() {
    rules::AdCampaign campaign;
    campaign.starts_at = kDay;
    return campaign;
}

Obstacles found(const rules::AdCampaign& of, const rules::AdSizes& sizes = kFits,
                std::int64_t impressions = 0) {
    return rules::obstacles_of(of, sizes, {impressions, impressions, 0}, kNoon);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ad_obstacles)

BOOST_AUTO_TEST_CASE(a_campaign_without_obstacles_can_be_shown) {
    BOOST_TEST(found(campaign()) == Obstacles{});
}

BOOST_AUTO_TEST_CASE(each_obstacle_is_named) {
    auto paused = campaign();
    paused.status = rules::CampaignStatus::Paused;
    BOOST_TEST(found(paused) == Obstacles{AdObstacle::Paused});
    auto later = campaign();
    later.starts_at = kNoon + Milliseconds(1);
    BOOST_TEST(found(later) == Obstacles{AdObstacle::NotBegun});
    auto past = campaign();
    past.ends_at = kNoon;
    BOOST_TEST(found(past) == Obstacles{AdObstacle::Ended});
    BOOST_TEST(found(campaign(), {{kBanner}, {}}) == Obstacles{AdObstacle::NoCreative});
    BOOST_TEST(found(campaign(), {{kBanner}, {{300, 250}}}) ==
               Obstacles{AdObstacle::NoFittingCreative});
    auto limited = campaign();
    limited.daily_impressions = 1000;
    BOOST_TEST(found(limited, kFits, 509) == Obstacles{});
    BOOST_TEST(found(limited, kFits, 510) == Obstacles{AdObstacle::AheadOfPace});
    BOOST_TEST(found(limited, kFits, 1000) == Obstacles{AdObstacle::BudgetSpent});
}

BOOST_AUTO_TEST_CASE(all_obstacles_are_named_at_once) {
    auto of = campaign();
    of.status = rules::CampaignStatus::Paused;
    of.ends_at = kDay;
    of.daily_impressions = 1;
    BOOST_TEST(found(of, {{kBanner}, {}}, 5) ==
               (Obstacles{AdObstacle::Paused, AdObstacle::Ended, AdObstacle::NoCreative}));
}

BOOST_AUTO_TEST_CASE(a_creative_of_one_slot_is_enough_and_the_others_are_counted) {
    const rules::AdSizes sizes{{kBanner, {300, 250}, {300, 250}}, {kBanner}};
    BOOST_TEST(found(campaign(), sizes) == Obstacles{});
    BOOST_TEST(rules::slots_without_creative(sizes) == 2);
    BOOST_TEST(rules::slots_without_creative(kFits) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
