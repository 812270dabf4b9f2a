// service/ads/serving.hpp: which ad is shown, caps and budgets under concurrency, and each token
// counts once.
#include "service/ads/serving.hpp"

#include "db/ads.hpp"
#include "db/lookups.hpp"
#include "rules/ads/token.hpp"
#include "rules/members/fields.hpp"
#include "service/members/change.hpp"
#include "service/operations/purge.hpp"
#include "service/privacy/erasure.hpp"

#include "print.hpp"

#include <atomic>

using namespace muster;
using service::AdRequest;
using service::Counting;
using test::code_of;
using test::DatabaseContext;
using test::in_parallel;

namespace {

constexpr std::int64_t kDay = 24L * 3600 * 1000;
struct Ads : test::AdFixture {
    UserId member(const std::string& email, const std::string& country = "") {
        rules::MemberFields fields;
        fields.email = email;
        fields.country = country;
        return test::add_member(*this, acme, fields);
    }
};
using test::budgeted;
using test::capped;
const std::string& kLanding = test::kAdLanding;
constexpr auto first = test::first_ad;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ad_serving, Ads)

BOOST_AUTO_TEST_CASE(a_capped_ad_is_served_while_its_campaign_row_is_locked) {
    const auto made = campaign(capped(1));
    const AdRequest question{"top", member("ann@x.test"), {}, {}, {}};
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM ad_campaigns WHERE id = ? FOR UPDATE", made.id);
    const bool is_served = serve(question).has_value();
    client.run("ROLLBACK");
    BOOST_TEST(is_served);
    BOOST_TEST(!serve(question).has_value());
}

BOOST_AUTO_TEST_CASE(an_unknown_slot_is_distinguished_from_a_slot_without_a_matching_ad) {
    BOOST_TEST(!serve().has_value());
    BOOST_TEST(code_of([&] { (void)serve({"none", {}, {}, {}, {}}); }) == ErrorCode::NotFound);
    const auto made = campaign();
    const auto ad = serve();
    BOOST_TEST_REQUIRE(ad.has_value());
    BOOST_TEST(ad->creative.campaign_id == made.id);
    const OrgId other = organization("Other");
    BOOST_TEST(
        code_of([&] {
            (void)service::serve_ad(context, cache, other, {"top", {}, {}, {}, {}}, now, first);
        }) == ErrorCode::NotFound);
}

// The number of statements that serve() sends.
int cost_of(Ads& ads, const AdRequest& question = {"top", {}, {}, {}, {}}) {
    db::statistics() = {};
    BOOST_TEST(ads.serve(question).has_value());
    return db::statistics().statements;
}

BOOST_AUTO_TEST_CASE(a_campaign_without_budget_and_cap_costs_two_reads_per_second_and_no_write) {
    campaign();
    const UserId ann = member("ann@x.test");
    const auto before = client.snapshot(acme);
    BOOST_TEST(cost_of(*this) == 2);  // the campaigns, and their creatives
    BOOST_TEST(cost_of(*this) == 0);
    BOOST_TEST(cost_of(*this, {"top", ann, {}, {}, {}}) == 1);
    now = now + Milliseconds(999);
    BOOST_TEST(cost_of(*this) == 0);
    now = now + Milliseconds(1);
    BOOST_TEST(cost_of(*this) == 2);
    BOOST_TEST(client.snapshot(acme) == before);
}

BOOST_AUTO_TEST_CASE(a_large_budget_is_reserved_in_groups_and_not_exceeded) {
    campaign(budgeted(3000));
    now = late;
    BOOST_TEST(cost_of(*this) == 3);  // the slot, and a reservation of three servings
    BOOST_TEST(cost_of(*this) == 0);
    BOOST_TEST(cost_of(*this) == 0);
    BOOST_TEST(cost_of(*this) == 1);
    BOOST_TEST(sum("served") == 6);
    client.execute("UPDATE ad_campaign_days SET served = 2998");
    forget();
    BOOST_TEST(!serve().has_value());  // no room for three
    BOOST_TEST(sum("served") == 2998);
}

BOOST_AUTO_TEST_CASE(an_exhausted_budget_is_not_queried_again_for_a_second) {
    campaign(budgeted(1));
    now = late - Milliseconds(5000);
    BOOST_TEST(serve().has_value());
    BOOST_TEST(!serve().has_value());
    db::statistics() = {};
    BOOST_TEST(!serve().has_value());
    BOOST_TEST(db::statistics().statements == 0);
    client.execute("UPDATE ad_campaign_days SET served = 0");
    now = now + Milliseconds(1000);
    BOOST_TEST(serve().has_value());
}

BOOST_AUTO_TEST_CASE(locked_counters_are_waited_for_once_in_five_seconds) {
    campaign(budgeted(1000));
    now = late - Milliseconds(10'000);
    BOOST_TEST(serve().has_value());
    forget();
    auto settings = test::connection_settings();
    settings.lock_timeout_seconds = 1;
    DatabaseContext reader(settings);
    const auto is_served = [&] {
        const AdRequest question{"top", {}, {}, {}, {}};
        return service::serve_ad(reader.context, cache, acme, question, now, first).has_value();
    };
    client.run("START TRANSACTION");
    client.query("SELECT 1 FROM ad_campaign_days FOR UPDATE");
    BOOST_TEST(!is_served());
    db::statistics() = {};
    BOOST_TEST(!is_served());
    BOOST_TEST(db::statistics().statements == 0);
    client.run("ROLLBACK");
    now = now + service::AdServingCache::kLockedPause;
    BOOST_TEST(is_served());
}

BOOST_AUTO_TEST_CASE(servings_reserved_yesterday_are_not_used_today) {
    campaign(budgeted(5000));
    now = late;
    BOOST_TEST(serve().has_value());
    now = now + Milliseconds(1);
    BOOST_TEST(serve().has_value());
    BOOST_TEST(client.column("SELECT served FROM ad_campaign_days ORDER BY day") ==
               (std::vector<std::string>{"5", "5"}));
}

BOOST_AUTO_TEST_CASE(a_campaign_runs_within_its_period_and_while_it_is_active) {
    const auto made = campaign();
    service::AdCampaignChange pause;
    pause.status = rules::CampaignStatus::Paused;
    change(made.id, pause);
    BOOST_TEST(!serve().has_value());
    service::AdCampaignChange resume;
    resume.status = rules::CampaignStatus::Active;
    resume.starts_at = now + Milliseconds(1);
    change(made.id, resume);
    BOOST_TEST(!serve().has_value());
    service::AdCampaignChange dated;
    dated.starts_at = now;
    dated.ends_at.emplace(now + Milliseconds(10));
    change(made.id, dated);
    BOOST_TEST(serve().has_value());
    now = now + Milliseconds(10);
    BOOST_TEST(!serve().has_value());
}

BOOST_AUTO_TEST_CASE(only_creatives_of_the_size_of_the_slot_are_shown) {
    const auto made = campaign();
    client.execute("DELETE FROM ad_creatives");
    creative(made.id, 300);
    BOOST_TEST(!serve().has_value());
    const auto fits = creative(made.id);
    BOOST_TEST(serve()->creative.id == fits.id);
}

BOOST_AUTO_TEST_CASE(the_current_country_overrides_the_country_of_the_member) {
    service::NewAdCampaign fields;
    fields.targeting.countries = {"DE"};
    campaign(fields);
    const UserId ann = member("ann@x.test", "DE");
    BOOST_TEST(!serve().has_value());
    BOOST_TEST(serve({"top", ann, {}, {}, {}}).has_value());
    BOOST_TEST(!serve({"top", ann, {}, {}, "GB"}).has_value());
    BOOST_TEST(serve({"top", {}, {}, {}, "DE"}).has_value());
    BOOST_TEST(!serve({"top", UserId::create(), {}, {}, {}}).has_value());
}

BOOST_AUTO_TEST_CASE(a_cap_of_three_holds_for_32_parallel_requests) {
    campaign(capped(3));
    const UserId ann = member("ann@x.test");
    BOOST_TEST(served_in_parallel(32, {"top", ann, {}, {}, {}}) == 3);
    BOOST_TEST(client.number("SELECT shown FROM ad_member_days") == 3);
    BOOST_TEST(serve({"top", member("bob@x.test"), {}, {}, {}}).has_value());
    BOOST_TEST(serve().has_value());  // a cap does not apply to unknown visitors
    now = now + Milliseconds(kDay);
    BOOST_TEST(serve({"top", ann, {}, {}, {}}).has_value());
}

BOOST_AUTO_TEST_CASE(a_budget_is_not_exceeded_by_32_parallel_requests) {
    campaign(budgeted(7));
    now = late;
    BOOST_TEST(served_in_parallel(32, {"top", {}, {}, {}, {}}) == 7);
    BOOST_TEST(sum("served") == 7);
    now = now + Milliseconds(1);  // the next day begins with one serving
    BOOST_TEST(served_in_parallel(8, {"top", {}, {}, {}, {}}) == 1);
}

BOOST_AUTO_TEST_CASE(a_capped_request_uses_no_budget_and_the_reverse) {
    auto fields = budgeted(5);
    fields.frequency_cap = 3;
    campaign(fields);
    now = late;
    const UserId ann = member("ann@x.test");
    const UserId bob = member("bob@x.test");
    BOOST_TEST(served_in_parallel(16, {"top", ann, {}, {}, {}}) == 3);
    BOOST_TEST(sum("served") == 3);
    BOOST_TEST(served_in_parallel(16, {"top", bob, {}, {}, {}}) == 2);
    BOOST_TEST(sum("served") == 5);
    BOOST_TEST(client.number("SELECT SUM(shown) FROM ad_member_days") == 5);
}

BOOST_AUTO_TEST_CASE(the_next_campaign_is_drawn_if_one_has_no_room) {
    const auto small = campaign(capped(1));
    const auto large = campaign();
    const UserId ann = member("ann@x.test");
    std::map<CampaignId, int> shown;
    for (int i = 0; i < 4; ++i) ++shown[serve({"top", ann, {}, {}, {}})->creative.campaign_id];
    BOOST_TEST(shown[small.id] == 1);
    BOOST_TEST(shown[large.id] == 3);
}

BOOST_AUTO_TEST_CASE(a_token_counts_once_among_32_parallel_redemptions_and_not_after_it_expires) {
    const auto made = campaign();
    const auto ad = serve();
    in_parallel(32, [&](int) {
        DatabaseContext worker;
        if (!service::redeem_impression(worker.context, cache, ad->impression_token,
                                        Counting::Count)) {
            throw std::runtime_error("refused");
        }
    });
    BOOST_TEST(sum("impressions") == 1);
    BOOST_TEST(service::redeem_click(context, cache, ad->click_token, Counting::Skip) == kLanding);
    BOOST_TEST(sum("clicks") == 0);
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(service::redeem_click(context, cache, ad->click_token, Counting::Count) ==
                   kLanding);
    }
    BOOST_TEST(sum("clicks") == 1);
    const auto list = days(made.id);
    BOOST_TEST_REQUIRE(list.size() == 1U);
    BOOST_TEST(list[0].impressions == 1);
    BOOST_TEST(list[0].clicks == 1);
    now = now - rules::kAdTokenLife - Milliseconds(1);
    client.execute("UPDATE ad_campaigns SET starts_at = 0");
    const auto expired = serve();
    BOOST_TEST(
        service::redeem_impression(context, cache, expired->impression_token, Counting::Count));
    BOOST_TEST(service::redeem_click(context, cache, expired->click_token, Counting::Count) ==
               kLanding);
    BOOST_TEST(sum("impressions + clicks") == 2);
}

BOOST_AUTO_TEST_CASE(an_unknown_token_counts_nothing) {
    campaign();
    const auto ad = serve();
    for (const std::string& token :
         {std::string(), std::string("x"), ad->impression_token.substr(1), ad->click_token + "A",
          ad->click_token}) {
        BOOST_TEST(!service::redeem_impression(context, cache, token, Counting::Count), token);
    }
    BOOST_TEST(code_of([&] {
                   (void)service::redeem_click(context, cache, ad->impression_token,
                                               Counting::Count);
               }) == ErrorCode::NotFound);
    BOOST_TEST(sum("impressions + clicks") == 0);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_redemptions") == 0);
}

BOOST_AUTO_TEST_CASE(
    a_click_on_a_deleted_creative_is_not_found_and_a_deleted_campaign_counts_nothing) {
    const auto made = campaign();
    const auto ad = serve();
    as(acme, [&](service::OrgTransaction& transaction) {
        service::delete_ad_campaign(transaction, made.id);
    });
    BOOST_TEST(service::redeem_impression(context, cache, ad->impression_token, Counting::Count));
    BOOST_TEST(sum("impressions") == 0);
    BOOST_TEST(code_of([&] {
                   (void)service::redeem_click(context, cache, ad->click_token, Counting::Count);
               }) == ErrorCode::NotFound);
}

BOOST_AUTO_TEST_CASE(
    the_impressions_of_a_member_are_deleted_with_the_membership_and_with_the_person) {
    campaign(capped(9));
    const auto counted = [&] { return client.number("SELECT COUNT(*) FROM ad_member_days"); };
    const UserId ann = member("ann@x.test");
    serve({"top", ann, {}, {}, {}});
    serve({"top", member("bob@x.test"), {}, {}, {}});
    BOOST_TEST(counted() == 2);
    as(acme,
       [&](service::OrgTransaction& transaction) { service::remove_member(transaction, ann); });
    BOOST_TEST(counted() == 1);
    service::preview_erasure(context, "bob@x.test");
    BOOST_TEST(counted() == 1);
    service::erase_person(context, "bob@x.test", {});
    BOOST_TEST(counted() == 0);
}

BOOST_AUTO_TEST_CASE(redemptions_and_caps_are_purged_after_their_retention) {
    const auto made = campaign(capped(9));
    const auto ad = serve({"top", member("ann@x.test"), {}, {}, {}});
    service::redeem_impression(context, cache, ad->impression_token, Counting::Count);
    BOOST_TEST(!service::purge_step(context).any());
    client.execute("UPDATE ad_redemptions SET redeemed_at = redeemed_at - ?", kDay);
    BOOST_TEST(!service::purge_step(context).any());
    client.execute("UPDATE ad_redemptions SET redeemed_at = redeemed_at - ?", kDay / 12);
    client.execute("UPDATE ad_member_days SET day = day - 2");
    const auto purged = service::purge_step(context);
    BOOST_TEST(purged["ad_redemptions"] == 1);
    BOOST_TEST(purged["ad_member_days"] == 1);
    BOOST_TEST(days(made.id).size() == 1U);
}

BOOST_AUTO_TEST_CASE(parallel_creation_does_not_exceed_the_limit_of_slots_and_creatives) {
    client.execute("DELETE FROM ad_slots");
    for (int i = 0; i < rules::kMostSlots - 3; ++i) {
        client.execute(
            "INSERT INTO ad_slots (organization_id, id, slug, name, width, height, created_at, "
            "updated_at) VALUES (?, ?, ?, 's', 1, 1, 0, 0)",
            acme, SlotId::create(), "s" + std::to_string(i));
    }
    std::atomic<int> refused = 0;
    in_parallel(12, [&](int number) {
        DatabaseContext worker;
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                service::create_ad_slot(transaction, {"new" + std::to_string(number), "n", 1, 1});
            });
        });
        if (code == ErrorCode::InvalidState) ++refused;
    });
    BOOST_TEST(refused == 9);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_slots") == rules::kMostSlots);
    const auto made = campaign();
    std::atomic<int> full = 0;
    in_parallel(8, [&](int) {
        DatabaseContext worker;
        for (int i = 0; i < 5; ++i) {
            const auto code = code_of([&] {
                worker.as(acme, [&](service::OrgTransaction& transaction) {
                    service::create_ad_creative(transaction, {made.id,
                                                              rules::CreativeKind::Image,
                                                              "https://i.example/",
                                                              {},
                                                              {},
                                                              1,
                                                              1,
                                                              kLanding});
                });
            });
            if (code == ErrorCode::InvalidState) ++full;
        }
    });
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_creatives") == rules::kMostCreatives);
    BOOST_TEST(full == 40 - (rules::kMostCreatives - 1));
}

BOOST_AUTO_TEST_CASE(parallel_creation_does_not_exceed_a_hundred_campaigns_per_slot) {
    const SlotId slot = slot_id();
    for (int i = 0; i < rules::kMostCampaignsInSlot - 2; ++i) {
        const auto id = CampaignId::create();
        client.execute(
            "INSERT INTO ad_campaigns (organization_id, id, name, status, starts_at, weight, "
            "targeting, created_at, updated_at) VALUES (?, ?, 'c', 'paused', 0, 1, '{}', 0, 0)",
            acme, id);
        client.execute(
            "INSERT INTO ad_campaign_slots (organization_id, slot_id, campaign_id) "
            "VALUES (?, ?, ?)",
            acme, slot, id);
    }
    std::atomic<int> refused = 0;
    in_parallel(6, [&](int) {
        DatabaseContext worker;
        service::NewAdCampaign fields;
        fields.name = "Late";
        fields.slot_ids = {slot};
        const auto code = code_of([&] {
            worker.as(acme, [&](service::OrgTransaction& transaction) {
                service::create_ad_campaign(transaction, fields);
            });
        });
        if (code == ErrorCode::InvalidState) ++refused;
    });
    BOOST_TEST(refused == 4);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_campaign_slots") ==
               rules::kMostCampaignsInSlot);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM ad_campaigns") == rules::kMostCampaignsInSlot);
}

BOOST_AUTO_TEST_SUITE_END()
