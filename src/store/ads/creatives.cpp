#include "store/ads/creatives.hpp"

#include <stdexcept>

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using rules::AdCreative;

namespace {

constexpr auto kCreative = columns<AdCreative>(
    column<&AdCreative::organization_id>("organization_id"), column<&AdCreative::id>("id"),
    column<&AdCreative::campaign_id>("campaign_id"), column<&AdCreative::kind>("kind"),
    column<&AdCreative::image_url>("image_url"), column<&AdCreative::html>("html"),
    column<&AdCreative::alt>("alt"), column<&AdCreative::width>("width"),
    column<&AdCreative::height>("height"), column<&AdCreative::landing_url>("landing_url"),
    column<&AdCreative::created_at>("created_at"), column<&AdCreative::updated_at>("updated_at"));

}  // namespace

std::int64_t count_ad_creatives(db::OrgStore& org, CampaignId campaign) {
    static constexpr OrgSql kCount{"ad_creatives.count",
                                   "SELECT COUNT(*) FROM ad_creatives FORCE INDEX (campaign) "
                                   "WHERE organization_id = :org AND campaign_id = ? "
                                   "LOCK IN SHARE MODE"};
    return org.value<std::int64_t>(kCount, campaign);
}

void insert_ad_creative(db::OrgStore& org, const AdCreative& creative) {
    static constexpr OrgSql kInsert{
        "ad_creatives.insert",
        "INSERT INTO ad_creatives (organization_id, id, campaign_id, kind, image_url, html, alt, "
        "width, height, landing_url, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, creative.id, creative.campaign_id, text_of(creative.kind),
                creative.image_url, creative.html, creative.alt, creative.width, creative.height,
                creative.landing_url, creative.created_at, creative.updated_at);
}

std::optional<AdCreative> find_ad_creative(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kFind{
        "ad_creatives.find", kCreative,
        "SELECT {columns} FROM ad_creatives WHERE organization_id = :org AND id = ?"};
    return org.one(kFind, id);
}

std::optional<AdCreative> lock_ad_creative(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kLock{
        "ad_creatives.lock", kCreative,
        "SELECT {columns} FROM ad_creatives WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<AdCreative> page_ad_creatives(db::OrgStore& org, CreativeId after, int limit) {
    static constexpr OrgSql kPage{"ad_creatives.page", kCreative,
                                  "SELECT {columns} FROM ad_creatives FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, after, limit);
}

std::vector<AdCreative> page_ad_creatives(db::OrgStore& org, CampaignId campaign, CreativeId after,
                                          int limit) {
    static constexpr OrgSql kPage{"ad_creatives.page_of_campaign", kCreative,
                                  "SELECT {columns} FROM ad_creatives FORCE INDEX (campaign) "
                                  "WHERE organization_id = :org AND campaign_id = ? AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return org.all(kPage, campaign, after, limit);
}

void update_ad_creative(db::OrgStore& org, const AdCreative& creative) {
    static constexpr OrgSql kUpdate{
        "ad_creatives.update",
        "UPDATE ad_creatives SET kind = ?, image_url = ?, html = ?, alt = ?, width = ?, "
        "height = ?, landing_url = ?, updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kUpdate, text_of(creative.kind), creative.image_url, creative.html, creative.alt,
                creative.width, creative.height, creative.landing_url, creative.updated_at,
                creative.id);
}

void delete_ad_creative(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kDelete{
        "ad_creatives.delete", "DELETE FROM ad_creatives WHERE organization_id = :org AND id = ?"};
    org.execute(kDelete, id);
}

}  // namespace muster::store
