// service/ads/figures.hpp: the figures of all campaigns at once.
#include "service/ads/figures.hpp"

#include "db/ads.hpp"

#include "print.hpp"

using namespace muster;
using rules::AdObstacle;

namespace {

struct Figures : test::AdFixture {
    void add_day(CampaignId campaign, std::int64_t day, int served, int impressions, int clicks) {
        client.execute(
            "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, served, impressions, "
            "clicks) VALUES (?, ?, ?, ?, ?, ?)",
            acme, campaign, day, served, impressions, clicks);
    }
    std::vector<service::AdCampaignFigures> list(int days = 7, int limit = 100,
                                                 std::optional<CampaignId> after = {}) {
        return service::list_ad_figures(context, acme, after, days, limit);
    }
    const std::int64_t today = rules::ad_day_of(Timestamp::now());
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ad_figures, Figures)

BOOST_AUTO_TEST_CASE(each_campaign_has_each_day_with_and_without_figures) {
    service::NewAdCampaign limited;
    limited.daily_impressions = 1000;
    const auto one = campaign(limited).id;
    const auto two = campaign().id;
    add_day(one, today, 5, 3, 1);
    add_day(one, today - 2, 9, 8, 2);
    add_day(one, today - 7, 9, 9, 9);
    const auto figures = list();
    BOOST_TEST_REQUIRE(figures.size() == 2U);
    BOOST_TEST(figures[0].id == one);
    BOOST_TEST(figures[0].served_today.value_or(0) == 5);
    BOOST_TEST(figures[0].impressions == 11);
    BOOST_TEST(figures[0].clicks == 3);
    BOOST_TEST_REQUIRE(figures[0].days.size() == 7U);
    BOOST_TEST(figures[0].days[6].date == rules::date_of_ad_day(today));
    BOOST_TEST(figures[0].days[6].impressions == 3);
    BOOST_TEST(figures[0].days[5].impressions == 0);
    BOOST_TEST(figures[0].days[4].clicks == 2);
    BOOST_TEST(figures[1].id == two);
    BOOST_TEST(!figures[1].served_today.has_value());
    BOOST_TEST(figures[1].days.size() == 7U);
    BOOST_TEST(list(1).at(0).impressions == 3);
    BOOST_TEST(list(7, 1).size() == 1U);
    BOOST_TEST(list(7, 5, one).at(0).id == two);
}

BOOST_AUTO_TEST_CASE(a_campaign_says_why_it_shows_nothing) {
    const auto id = campaign().id;
    BOOST_TEST(list().at(0).not_shown_because.empty());
    change(id, {.status = rules::CampaignStatus::Paused});
    as(acme, [&](service::OrgTransaction& transaction) {
        service::change_ad_slot(transaction, slot_id(), {{}, {}, 300, {}});
    });
    const auto figures = list().at(0);
    BOOST_TEST(figures.not_shown_because ==
               (std::vector{AdObstacle::Paused, AdObstacle::NoFittingCreative}));
    BOOST_TEST(figures.slots_without_creative == 1);
}

BOOST_AUTO_TEST_CASE(the_figures_of_all_campaigns_cost_four_statements) {
    const auto cost = [&] {
        db::statistics() = {};
        list();
        return db::statistics().statements;
    };
    for (int i = 0; i < 4; ++i) campaign();
    BOOST_TEST(cost() == 4);
}

BOOST_AUTO_TEST_SUITE_END()
