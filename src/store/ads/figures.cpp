#include "store/ads/figures.hpp"

#include "store/batches.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;
using rules::AdCounts;
using rules::AdSize;

namespace {

struct CountsOf {
    CampaignId campaign;
    std::int64_t day = 0;
    AdCounts counts;
};
constexpr auto kCountsOf =
    columns<CountsOf>(column<&CountsOf::campaign>("campaign_id"), column<&CountsOf::day>("day"),
                      column<&CountsOf::counts, &AdCounts::served>("served"),
                      column<&CountsOf::counts, &AdCounts::impressions>("impressions"),
                      column<&CountsOf::counts, &AdCounts::clicks>("clicks"));

struct SizeOf {
    CampaignId campaign;
    AdSize size;
};
constexpr auto kSizeOfSlot = columns<SizeOf>(column<&SizeOf::campaign>("l.campaign_id"),
                                             column<&SizeOf::size, &AdSize::width>("s.width"),
                                             column<&SizeOf::size, &AdSize::height>("s.height"));
constexpr auto kSizeOfCreative = columns<SizeOf>(column<&SizeOf::campaign>("campaign_id"),
                                                 column<&SizeOf::size, &AdSize::width>("width"),
                                                 column<&SizeOf::size, &AdSize::height>("height"));

}  // namespace

std::map<CampaignId, CountsByDay> read_ad_counts(db::OrgStore& org,
                                                 std::span<const CampaignId> campaigns,
                                                 std::int64_t first_day) {
    static constexpr OrgSql kRead{
        "ad_figures.read_counts", kCountsOf,
        "SELECT {columns} FROM ad_campaign_days FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND campaign_id IN ({?}) AND day >= ? "
        "ORDER BY campaign_id, day"};
    std::map<CampaignId, CountsByDay> counts;
    in_batches(campaigns, [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.emplace_back(first_day);
        for (const CountsOf& of : org.each_bulk(kRead, count, params)) {
            counts[of.campaign][of.day] = of.counts;
        }
    });
    return counts;
}

std::map<CampaignId, rules::AdSizes> read_ad_sizes(db::OrgStore& org,
                                                   std::span<const CampaignId> campaigns) {
    static constexpr OrgSql kSlots{
        "ad_figures.read_slot_sizes", kSizeOfSlot,
        "SELECT {columns} FROM ad_campaign_slots l FORCE INDEX (campaign) "
        "STRAIGHT_JOIN ad_slots s FORCE INDEX (PRIMARY) "
        "ON s.organization_id = :org AND s.id = l.slot_id "
        "WHERE l.organization_id = :org AND l.campaign_id IN ({?}) "
        "ORDER BY l.campaign_id, l.slot_id"};
    static constexpr OrgSql kCreatives{
        "ad_figures.read_creative_sizes", kSizeOfCreative,
        "SELECT {columns} FROM ad_creatives FORCE INDEX (campaign) "
        "WHERE organization_id = :org AND campaign_id IN ({?}) ORDER BY campaign_id, id"};
    std::map<CampaignId, rules::AdSizes> sizes;
    in_batches(campaigns, [&](const std::vector<Param>& params) {
        for (const SizeOf& of : org.each_bulk(kSlots, params.size(), params)) {
            sizes[of.campaign].slots.push_back(of.size);
        }
        for (const SizeOf& of : org.each_bulk(kCreatives, params.size(), params)) {
            sizes[of.campaign].creatives.insert(of.size);
        }
    });
    return sizes;
}

}  // namespace muster::store
