#include "service/ads/figures.hpp"

#include "db/transaction.hpp"
#include "store/ads/campaigns.hpp"
#include "store/ads/figures.hpp"

namespace muster::service {
namespace {

using rules::AdCampaign;
using rules::AdCounts;

AdCounts counts_of(const store::CountsByDay& counts, std::int64_t day) {
    const auto found = counts.find(day);
    return found == counts.end() ? AdCounts{} : found->second;
}

AdCampaignFigures figures_of(const AdCampaign& campaign, const store::CountsByDay& counts,
                             const rules::AdSizes& sizes, int days, Timestamp now) {
    const std::int64_t today = rules::ad_day_of(now);
    AdCampaignFigures figures;
    figures.id = campaign.id;
    figures.name = campaign.name;
    figures.status = campaign.status;
    figures.daily_impressions = campaign.daily_impressions;
    for (std::int64_t day = today - days + 1; day <= today; ++day) {
        const AdCounts of_day = counts_of(counts, day);
        figures.days.push_back({rules::date_of_ad_day(day), of_day.impressions, of_day.clicks});
        figures.impressions += of_day.impressions;
        figures.clicks += of_day.clicks;
    }
    const AdCounts of_today = counts_of(counts, today);
    if (campaign.daily_impressions) figures.served_today = of_today.served;
    figures.slots_without_creative = rules::slots_without_creative(sizes);
    figures.not_shown_because = rules::obstacles_of(campaign, sizes, of_today, now);
    return figures;
}

}  // namespace

std::vector<AdCampaignFigures> list_ad_figures(Context& context, OrgId organization,
                                               std::optional<CampaignId> after, int days,
                                               int limit) {
    const Timestamp now = Timestamp::now();
    return context.database.autocommit([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const auto campaigns = store::page_ad_campaigns(org, after.value_or(CampaignId()), limit);
        std::vector<CampaignId> ids;
        ids.reserve(campaigns.size());
        for (const AdCampaign& campaign : campaigns) ids.push_back(campaign.id);
        auto counts = store::read_ad_counts(org, ids, rules::ad_day_of(now) - days + 1);
        auto sizes = store::read_ad_sizes(org, ids);
        std::vector<AdCampaignFigures> list;
        list.reserve(campaigns.size());
        for (const AdCampaign& campaign : campaigns) {
            list.push_back(
                figures_of(campaign, counts[campaign.id], sizes[campaign.id], days, now));
        }
        return list;
    });
}

}  // namespace muster::service
