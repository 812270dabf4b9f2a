#include "store/ads/campaigns.hpp"

#include <map>
#include <stdexcept>

namespace muster::store {

using db::OrgSql;
using db::Param;
using rules::AdCampaign;

namespace {

#define CAMPAIGN_COLUMNS                                                                 \
    "organization_id, id, name, status, starts_at, ends_at, weight, daily_impressions, " \
    "frequency_cap, targeting, created_at, updated_at"

AdCampaign campaign_of(const db::Rows& rows) {
    AdCampaign campaign;
    campaign.organization_id = rows.id<OrgId>(1);
    campaign.id = rows.id<CampaignId>(2);
    campaign.name = rows.bytes(3);
    const auto status = rules::campaign_status_of(rows.bytes(4));
    if (!status) throw std::runtime_error("a campaign of an unknown status");
    campaign.status = *status;
    campaign.starts_at = rows.timestamp(5);
    campaign.ends_at = rows.optional_timestamp(6);
    campaign.weight = rows.integer(7);
    campaign.daily_impressions = rows.optional_integer(8);
    campaign.frequency_cap = rows.optional_integer(9);
    auto targeting = rules::targeting_of(rows.bytes(10));
    if (!targeting) throw std::runtime_error("a campaign with an unreadable targeting");
    campaign.targeting = std::move(*targeting);
    campaign.created_at = rows.timestamp(11);
    campaign.updated_at = rows.timestamp(12);
    return campaign;
}

std::optional<AdCampaign> one_campaign(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return campaign_of(rows);
}

}  // namespace

std::int64_t count_ad_campaigns_for_adding(db::OrgStore& org) {
    // Two that find none at all may both go on, and deadlock over their rows: one runs again.
    static constexpr OrgSql kCount{
        "ad_campaigns.count_for_adding",
        "SELECT COUNT(*) FROM ad_campaigns WHERE organization_id = :org FOR UPDATE"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

void insert_ad_campaign(db::OrgStore& org, const AdCampaign& campaign) {
    static constexpr OrgSql kInsert{
        "ad_campaigns.insert",
        "INSERT INTO ad_campaigns (organization_id, id, name, status, starts_at, ends_at, weight, "
        "daily_impressions, frequency_cap, targeting, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, campaign.id, campaign.name, text_of(campaign.status), campaign.starts_at,
                campaign.ends_at, campaign.weight, campaign.daily_impressions,
                campaign.frequency_cap, rules::targeting_document(campaign.targeting),
                campaign.created_at, campaign.updated_at);
}

std::optional<AdCampaign> find_ad_campaign(db::OrgStore& org, CampaignId id) {
    static constexpr OrgSql kFind{"ad_campaigns.find",
                                  "SELECT " CAMPAIGN_COLUMNS
                                  " FROM ad_campaigns WHERE organization_id = :org AND id = ?"};
    return one_campaign(org.query(kFind, id));
}

std::optional<AdCampaign> lock_ad_campaign(db::OrgStore& org, CampaignId id) {
    static constexpr OrgSql kLock{
        "ad_campaigns.lock",
        "SELECT " CAMPAIGN_COLUMNS
        " FROM ad_campaigns WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return one_campaign(org.query(kLock, id));
}

std::vector<AdCampaign> page_ad_campaigns(db::OrgStore& org, CampaignId after, int limit) {
    static constexpr OrgSql kPage{"ad_campaigns.page",
                                  "SELECT " CAMPAIGN_COLUMNS
                                  " FROM ad_campaigns WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    std::vector<AdCampaign> list;
    for (auto rows = org.query(kPage, after, limit); rows.next();) {
        list.push_back(campaign_of(rows));
    }
    return list;
}

void update_ad_campaign(db::OrgStore& org, const AdCampaign& campaign) {
    static constexpr OrgSql kUpdate{
        "ad_campaigns.update",
        "UPDATE ad_campaigns SET name = ?, status = ?, starts_at = ?, ends_at = ?, weight = ?, "
        "daily_impressions = ?, frequency_cap = ?, targeting = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kUpdate, campaign.name, text_of(campaign.status), campaign.starts_at,
                campaign.ends_at, campaign.weight, campaign.daily_impressions,
                campaign.frequency_cap, rules::targeting_document(campaign.targeting),
                campaign.updated_at, campaign.id);
}

void delete_ad_campaign(db::OrgStore& org, CampaignId id) {
    static constexpr OrgSql kDelete{
        "ad_campaigns.delete", "DELETE FROM ad_campaigns WHERE organization_id = :org AND id = ?"};
    org.execute(kDelete, id);
}

void read_slots_of_campaigns(db::OrgStore& org, std::span<AdCampaign> campaigns) {
    static constexpr OrgSql kRead{
        "ad_campaigns.read_slots",
        "SELECT campaign_id, slot_id FROM ad_campaign_slots "
        "WHERE organization_id = :org AND campaign_id IN ({?}) ORDER BY campaign_id, slot_id"};
    if (campaigns.empty()) return;
    std::map<CampaignId, AdCampaign*> by_id;
    std::vector<Param> params;
    for (AdCampaign& campaign : campaigns) {
        by_id.emplace(campaign.id, &campaign);
        params.emplace_back(campaign.id);
    }
    for (auto rows = org.query_bulk(kRead, campaigns.size(), params); rows.next();) {
        by_id.at(rows.id<CampaignId>(1))->slot_ids.push_back(rows.id<SlotId>(2));
    }
}

void insert_campaign_slots(db::OrgStore& org, CampaignId id, std::span<const SlotId> slots) {
    static constexpr OrgSql kInsert{
        "ad_campaigns.insert_slots",
        "INSERT INTO ad_campaign_slots (organization_id, slot_id, campaign_id) "
        "VALUES {(:org, ?, ?)}"};
    std::vector<Param> params;
    for (const SlotId& slot : slots) {
        params.emplace_back(slot);
        params.emplace_back(id);
    }
    org.execute_bulk(kInsert, slots.size(), params);
}

void delete_campaign_slots(db::OrgStore& org, CampaignId id) {
    static constexpr OrgSql kDelete{
        "ad_campaigns.delete_slots",
        "DELETE FROM ad_campaign_slots WHERE organization_id = :org AND campaign_id = ?"};
    org.execute(kDelete, id);
}

std::vector<rules::AdDay> list_ad_days(db::OrgStore& org, CampaignId id, std::int64_t first_day) {
    static constexpr OrgSql kList{
        "ad_campaigns.list_days",
        "SELECT day, impressions, clicks FROM ad_campaign_days WHERE organization_id = :org "
        "AND campaign_id = ? AND day >= ? AND (impressions > 0 OR clicks > 0) ORDER BY day"};
    std::vector<rules::AdDay> days;
    for (auto rows = org.query(kList, id, first_day); rows.next();) {
        days.push_back({rules::date_of_ad_day(rows.integer(1)), rows.integer(2), rows.integer(3)});
    }
    return days;
}

}  // namespace muster::store
