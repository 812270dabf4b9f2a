// An organization with an ad slot, its campaigns and their creatives, and a worker that serves
// them.
#pragma once

#include "db/fixture.hpp"
#include "service/ads/campaigns.hpp"
#include "service/ads/creatives.hpp"
#include "service/ads/serving.hpp"
#include "service/ads/slots.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace muster::test {

inline const std::string kAdLanding = "https://shop.example/final?a=b#c";

// Chooses the first candidate.
inline std::uint64_t first_ad(std::uint64_t) {
    return 0;
}

struct AdFixture : Fixture {
    AdFixture() { slot(); }

    rules::AdSlot slot(const std::string& slug = "top") {
        return as(acme, [&](service::OrgTransaction& transaction) {
            return service::create_ad_slot(transaction, {slug, slug, 728, 90});
        });
    }
    SlotId slot_id() { return service::list_ad_slots(context, acme, std::nullopt, 1).front().id; }
    // With one matching creative.
    rules::AdCampaign campaign(service::NewAdCampaign fields = {}) {
        if (fields.name.empty()) fields.name = "Cup";
        if (fields.slot_ids.empty()) fields.slot_ids = {slot_id()};
        if (!fields.starts_at) fields.starts_at = now;
        const auto made = as(acme, [&](service::OrgTransaction& transaction) {
            return service::create_ad_campaign(transaction, fields);
        });
        creative(made.id);
        return made;
    }
    rules::AdCreative creative(CampaignId campaign, std::int64_t width = 728) {
        return as(acme, [&](service::OrgTransaction& transaction) {
            service::NewAdCreative fields;
            fields.campaign_id = campaign;
            fields.image_url = "https://img.example/a.png";
            fields.width = width;
            fields.height = 90;
            fields.landing_url = kAdLanding;
            forget();
            return service::create_ad_creative(transaction, fields);
        });
    }
    void change(CampaignId id, const service::AdCampaignChange& change) {
        as(acme, [&](service::OrgTransaction& transaction) {
            service::change_ad_campaign(transaction, id, change);
        });
        forget();
    }
    std::optional<service::ServedAd> serve(const service::AdRequest& question = {
                                               "top", {}, {}, {}, {}}) {
        return service::serve_ad(context, cache, acme, question, now, first_ad);
    }
    // Clears the cache, as in a new worker.
    void forget() { cache = service::AdServingCache(context.keys); }
    // How many of that many parallel requests got an ad.
    int served_in_parallel(int requests, const service::AdRequest& question) {
        std::atomic<int> served = 0;
        in_parallel(requests, [&](int) {
            DatabaseContext worker;
            service::AdServingCache own(worker.context.keys);
            if (service::serve_ad(worker.context, own, acme, question, now, first_ad)) ++served;
        });
        return served;
    }
    std::vector<rules::AdDay> days(CampaignId id) {
        return service::list_ad_days(context, acme, id, 90);
    }

    service::AdServingCache cache{context.keys};
    std::int64_t sum(const std::string& column) {
        return client.number("SELECT COALESCE(SUM(" + column + "), 0) FROM ad_campaign_days");
    }

    OrgId acme = organization("Acme");
    Timestamp now = Timestamp::now();
    // The end of the same day, when the whole budget may be spent.
    Timestamp late{(rules::ad_day_of(now) + 1) * 24 * 3600 * 1000 - 1};
};

inline service::NewAdCampaign capped(std::int64_t cap) {
    service::NewAdCampaign fields;
    fields.frequency_cap = cap;
    return fields;
}
inline service::NewAdCampaign budgeted(std::int64_t budget) {
    service::NewAdCampaign fields;
    fields.daily_impressions = budget;
    fields.starts_at = Timestamp(0);
    return fields;
}

}  // namespace muster::test
