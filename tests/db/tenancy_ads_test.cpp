// A tenant cannot reach the ad slots, campaigns, creatives and counts of another (see
// tenancy_test.cpp).
#include "db/two_tenants.hpp"
#include "store/ads/campaigns.hpp"
#include "store/ads/creatives.hpp"
#include "store/ads/figures.hpp"
#include "store/ads/serving.hpp"
#include "store/ads/slots.hpp"

using namespace muster;
using db::OrgStore;
using test::kLater;
using test::kNow;
using test::TwoTenants;

namespace {

struct TenantAds : TwoTenants {
    rules::AdSlot slot() const {
        return {owner.id, owner.slot, "other", "Other", 300, 250, kLater, kLater};
    }
    rules::AdCampaign campaign() const {
        rules::AdCampaign made;
        made.id = owner.campaign;
        made.name = "Other";
        made.created_at = made.updated_at = kLater;
        return made;
    }
    rules::AdCreative creative() const {
        rules::AdCreative made;
        made.id = owner.creative;
        made.campaign_id = owner.campaign;
        made.image_url = "https://img.example/b.png";
        made.width = made.height = 1;
        made.landing_url = "https://shop.example/b";
        made.created_at = made.updated_at = kLater;
        return made;
    }
    rules::AdToken token() const {
        return {rules::AdTokenKind::Click,
                owner.id,
                ServingId::create(),
                owner.campaign,
                owner.creative,
                kLater};
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tenancy_ads, TenantAds)

BOOST_AUTO_TEST_CASE(figures_of_ad_campaigns) {
    const std::vector<CampaignId> campaigns{owner.campaign};
    check({"ad_figures.read_counts"},
          [&](OrgStore& org) { return !store::read_ad_counts(org, campaigns, 0).empty(); });
    check({"ad_figures.read_slot_sizes", "ad_figures.read_creative_sizes"},
          [&](OrgStore& org) { return !store::read_ad_sizes(org, campaigns).empty(); });
}

BOOST_AUTO_TEST_CASE(ad_slots) {
    check({"ad_slots.insert"}, [&](OrgStore& org) {
        auto made = slot();
        made.id = SlotId::create();
        return store::insert_ad_slot(org, made) && org.org() == owner.id;
    });
    check({"ad_slots.find"},
          [&](OrgStore& org) { return store::find_ad_slot(org, owner.slot).has_value(); });
    check({"ad_slots.lock"},
          [&](OrgStore& org) { return store::lock_ad_slot(org, owner.slot).has_value(); });
    check({"ad_slots.lock_some"}, [&](OrgStore& org) {
        return !store::lock_ad_slots(org, {&owner.slot, 1}).empty();
    });
    check({"ad_slots.page"}, [&](OrgStore& org) {
        const auto page = store::page_ad_slots(org, {}, 10);
        return page.size() != 1 || page[0].id == owner.slot;
    });
    check({"ad_slots.count_campaigns"},
          [&](OrgStore& org) { return store::count_campaigns_in_slot(org, owner.slot) > 0; });
    check({"ad_slots.update"}, [&](OrgStore& org) {
        (void)store::update_ad_slot(org, slot());
        return false;
    });
    client.execute(
        "INSERT INTO ad_slots (organization_id, id, slug, name, width, height, created_at, "
        "updated_at) VALUES (?, ?, 'second', 'Second', 1, 1, 0, 0)",
        owner.id, SlotId::create());
    check({"ad_slots.count_for_adding"},
          [&](OrgStore& org) { return store::lock_and_count_ad_slots(org) == 2; });
    client.execute("DELETE FROM ad_campaign_slots");
    check({"ad_slots.delete"}, [&](OrgStore& org) {
        store::delete_ad_slot(org, owner.slot);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(ad_campaigns) {
    check({"ad_campaigns.insert"}, [&](OrgStore& org) {
        auto made = campaign();
        made.id = CampaignId::create();
        store::insert_ad_campaign(org, made);
        return false;
    });
    check({"ad_campaigns.find"},
          [&](OrgStore& org) { return store::find_ad_campaign(org, owner.campaign).has_value(); });
    check({"ad_campaigns.lock"},
          [&](OrgStore& org) { return store::lock_ad_campaign(org, owner.campaign).has_value(); });
    check({"ad_campaigns.page"}, [&](OrgStore& org) {
        const auto page = store::page_ad_campaigns(org, {}, 10);
        return page.size() != 1 || page[0].id == owner.campaign;
    });
    check({"ad_campaigns.read_slots"}, [&](OrgStore& org) {
        std::vector<rules::AdCampaign> one{campaign()};
        store::read_slots_of_campaigns(org, one);
        return !one[0].slot_ids.empty();
    });
    check({"ad_campaigns.update"}, [&](OrgStore& org) {
        store::update_ad_campaign(org, campaign());
        return false;
    });
    check({"ad_campaigns.list_days"},
          [&](OrgStore& org) { return !store::list_ad_days(org, owner.campaign, 0).empty(); });
    check({"ad_campaigns.delete_slots"}, [&](OrgStore& org) {
        store::delete_campaign_slots(org, owner.campaign);
        return false;
    });
    client.execute(
        "INSERT INTO ad_campaigns (organization_id, id, name, status, starts_at, weight, "
        "targeting, created_at, updated_at) VALUES (?, ?, 'Second', 'paused', 0, 1, '{}', 0, 0)",
        owner.id, CampaignId::create());
    check({"ad_campaigns.count_for_adding"},
          [&](OrgStore& org) { return store::lock_and_count_ad_campaigns(org) == 2; });
    client.execute("DELETE FROM ad_campaign_slots");
    check({"ad_campaigns.insert_slots"}, [&](OrgStore& org) {
        store::insert_campaign_slots(org, owner.campaign, {&owner.slot, 1});
        return false;
    });
    check({"ad_campaigns.delete"}, [&](OrgStore& org) {
        store::delete_ad_campaign(org, owner.campaign);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(ad_creatives) {
    check({"ad_creatives.insert"}, [&](OrgStore& org) {
        auto made = creative();
        made.id = CreativeId::create();
        store::insert_ad_creative(org, made);
        return false;
    });
    check({"ad_creatives.count"},
          [&](OrgStore& org) { return store::count_ad_creatives(org, owner.campaign) > 0; });
    check({"ad_creatives.find"},
          [&](OrgStore& org) { return store::find_ad_creative(org, owner.creative).has_value(); });
    check({"ad_creatives.lock"},
          [&](OrgStore& org) { return store::lock_ad_creative(org, owner.creative).has_value(); });
    check({"ad_creatives.page"}, [&](OrgStore& org) {
        const auto page = store::page_ad_creatives(org, {}, 10);
        return page.size() != 1 || page[0].id == owner.creative;
    });
    check({"ad_creatives.page_of_campaign"}, [&](OrgStore& org) {
        return !store::page_ad_creatives(org, owner.campaign, {}, 10).empty();
    });
    check({"ad_creatives.update"}, [&](OrgStore& org) {
        store::update_ad_creative(org, creative());
        return false;
    });
    check({"ad_creatives.delete"}, [&](OrgStore& org) {
        store::delete_ad_creative(org, owner.creative);
        return false;
    });
}

BOOST_AUTO_TEST_CASE(ad_serving) {
    check({"ad_serving.find_member"},
          [&](OrgStore& org) { return store::find_ad_member(org, owner.user).has_value(); });
    client.run("UPDATE ad_member_days SET day = 20000");
    check({"ad_serving.find_shown"}, [&](OrgStore& org) {
        return !store::find_shown_today(org, owner.member, 20'000).empty();
    });
    check({"ad_serving.find_campaigns", "ad_serving.find_creatives"}, [&](OrgStore& org) {
        const auto found = store::find_ad_candidates(org, "top", kNow, kLater);
        return found->size() != 1 || found->front().campaign == owner.campaign;
    });
    check({"ad_serving.find_landing_url"}, [&](OrgStore& org) {
        return store::find_landing_url(org, owner.campaign, owner.creative).has_value();
    });
    check({"ad_serving.reserve_of_budget"}, [&](OrgStore& org) {
        return store::reserve_budget(org, owner.campaign, 20'000, 1, 9, kNow);
    });
    client.run("UPDATE ad_campaign_days SET served = impressions + 1");
    const auto day =
        client.number("SELECT day FROM ad_campaign_days WHERE organization_id = ?", owner.id);
    check({"ad_serving.return_unseen"}, [&](OrgStore& org) {
        return store::return_unseen(org, owner.campaign, day, kLater, kLater);
    });
    check({"ad_serving.reserve_for_member"}, [&](OrgStore& org) {
        return store::reserve_for_member(org, owner.campaign, owner.member, 20'000, 9);
    });
    check({"ad_serving.insert_redemption"}, [&](OrgStore& org) {
        auto redeemed = token();
        redeemed.serving = owner.serving;
        redeemed.kind = rules::AdTokenKind::Impression;  // counted before, for the owner only
        return !store::insert_redemption(org, redeemed, kNow);
    });
    check({"ad_serving.count_redemption"}, [&](OrgStore& org) {
        store::count_redemption(org, token(), 20'000);
        return false;
    });
    check({"ad_serving.delete_days_of_member"}, [&](OrgStore& org) {
        store::delete_ad_days_of(org, owner.member);
        return false;
    });
    client.execute("UPDATE ad_creatives SET kind = 'html', html = '<b>x</b>'");
    check({"ad_serving.delete_days_of_members"}, [&](OrgStore& org) {
        store::delete_ad_days_of(org, {&owner.member, 1});
        return false;
    });
    check({"ad_serving.find_html"}, [&](OrgStore& org) {
        return store::find_creative_html(org, owner.creative).has_value();
    });
}

BOOST_AUTO_TEST_SUITE_END()
