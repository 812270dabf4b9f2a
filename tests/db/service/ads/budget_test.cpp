// service/ads/serving.hpp: a budget is spent by impressions, and not by servings without an
// impression.
#include "db/ads.hpp"

#include "print.hpp"

using namespace muster;

namespace {

struct Budgets : test::AdFixture {
    // A request that loses a deadlock is not served.
    int served_until_empty() {
        int total = 0;
        while (const int served = served_in_parallel(16, question)) total += served;
        return total;
    }

    service::AdRequest question{"top", {}, {}, {}, {}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ad_budget, Budgets)

BOOST_AUTO_TEST_CASE(a_budget_is_not_spent_by_servings_without_an_impression) {
    const auto id = campaign(test::budgeted(7)).id;
    now = late - Milliseconds(100'000);
    BOOST_TEST(served_until_empty() == 7);
    now = now + rules::kUnseenAfter - Milliseconds(1);
    BOOST_TEST(served_in_parallel(16, question) == 0);
    now = now + Milliseconds(1);
    BOOST_TEST(served_until_empty() == 7);
    // Servings with an impression are not returned.
    client.execute("UPDATE ad_campaign_days SET impressions = 5 WHERE campaign_id = ?", id);
    now = late;
    forget();
    BOOST_TEST(served_in_parallel(16, question) == 0);
    client.run("UPDATE ad_campaign_days SET returned_at = 0");
    BOOST_TEST(served_until_empty() == 2);
}

BOOST_AUTO_TEST_CASE(the_first_servings_of_a_day_are_not_returned_at_once_after_a_late_click) {
    const auto id = campaign(test::budgeted(7)).id;
    now = late - Milliseconds(100'000);
    client.execute(
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, clicks) "
        "VALUES (?, ?, ?, 1)",
        acme, id, rules::ad_day_of(now));
    BOOST_TEST(served_until_empty() == 7);
    now = now + rules::kUnseenAfter;
    BOOST_TEST(served_until_empty() == 7);
}

BOOST_AUTO_TEST_CASE(counted_impressions_do_not_exceed_the_budget) {
    campaign(test::budgeted(2));
    now = late;
    std::vector<std::string> tokens;
    for (int i = 0; i < 4; ++i) {
        client.run("UPDATE ad_campaign_days SET served = 0");
        forget();
        tokens.push_back(serve().value().impression_token);
    }
    for (const auto& token : tokens) {
        BOOST_TEST(service::redeem_impression(context, cache, token, service::Counting::Count));
    }
    BOOST_TEST(sum("impressions") == 2);
}

BOOST_AUTO_TEST_SUITE_END()
