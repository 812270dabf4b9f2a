#include "store/ads/campaigns.hpp"

#include <map>
#include <stdexcept>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using db::Param;
using rules::AdCampaign;

namespace {

rules::Targeting readable_targeting(const std::string& document) {
    auto targeting = rules::targeting_of(document);
    if (!targeting) throw std::runtime_error("the targeting of a stored campaign cannot be read");
    return std::move(*targeting);
}

constexpr auto kCampaign = columns<AdCampaign>(
    column<&AdCampaign::organization_id>("organization_id"), column<&AdCampaign::id>("id"),
    column<&AdCampaign::name>("name"), column<&AdCampaign::status>("status"),
    column<&AdCampaign::starts_at>("starts_at"), column<&AdCampaign::ends_at>("ends_at"),
    column<&AdCampaign::weight>("weight"),
    column<&AdCampaign::daily_impressions>("daily_impressions"),
    column<&AdCampaign::frequency_cap>("frequency_cap"),
    converted<readable_targeting, &AdCampaign::targeting>("targeting"),
    column<&AdCampaign::created_at>("created_at"), column<&AdCampaign::updated_at>("updated_at"));
constexpr auto kSlotOf = db::row<CampaignId, SlotId>("campaign_id", "slot_id");

constexpr auto kDay = columns<rules::AdDay>(
    converted<rules::date_of_ad_day, &rules::AdDay::date>("day"),
    column<&rules::AdDay::impressions>("impressions"), column<&rules::AdDay::clicks>("clicks"));

}  // namespace

std::int64_t lock_and_count_ad_campaigns(db::OrgStore& org) {
    // Without rows there is nothing to lock: the first ones may be added at the same time.
    static constexpr OrgSql kCount{
        "ad_campaigns.count_for_adding",
        "SELECT COUNT(*) FROM ad_campaigns WHERE organization_id = :org FOR UPDATE"};
    return org.value<std::int64_t>(kCount);
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
    static constexpr OrgSql kFind{
        "ad_campaigns.find", kCampaign,
        "SELECT {columns} FROM ad_campaigns WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<AdCampaign> lock_ad_campaign(db::OrgStore& org, CampaignId id) {
    static constexpr OrgSql kLock{
        "ad_campaigns.lock", kCampaign,
        "SELECT {columns} FROM ad_campaigns WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<AdCampaign> page_ad_campaigns(db::OrgStore& org, CampaignId after, int limit) {
    static constexpr OrgSql kPage{"ad_campaigns.page", kCampaign,
                                  "SELECT {columns} FROM ad_campaigns FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, after, limit);
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
        "ad_campaigns.read_slots", kSlotOf,
        "SELECT {columns} FROM ad_campaign_slots FORCE INDEX (campaign) "
        "WHERE organization_id = :org AND campaign_id IN ({?}) ORDER BY campaign_id, slot_id"};
    if (campaigns.empty()) return;
    std::map<CampaignId, AdCampaign*> by_id;
    std::vector<Param> params;
    for (AdCampaign& campaign : campaigns) {
        by_id.emplace(campaign.id, &campaign);
        params.emplace_back(campaign.id);
    }
    for (const auto& [campaign, slot] : org.each_bulk(kRead, campaigns.size(), params)) {
        by_id.at(campaign)->slot_ids.push_back(slot);
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
        "ad_campaigns.list_days", kDay,
        "SELECT {columns} FROM ad_campaign_days FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND campaign_id = ? AND day >= ? AND (impressions > 0 OR clicks > 0) ORDER BY day"};
    return org.all(kList, id, first_day);
}

}  // namespace muster::store
