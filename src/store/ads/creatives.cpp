#include "store/ads/creatives.hpp"

#include <stdexcept>

namespace muster::store {

using db::OrgSql;
using rules::AdCreative;

namespace {

#define CREATIVE_COLUMNS                                                                         \
    "organization_id, id, campaign_id, kind, image_url, html, alt, width, height, landing_url, " \
    "created_at, updated_at"

AdCreative creative_of(const db::Rows& rows) {
    AdCreative creative;
    creative.organization_id = rows.id<OrgId>(1);
    creative.id = rows.id<CreativeId>(2);
    creative.campaign_id = rows.id<CampaignId>(3);
    const auto kind = rules::creative_kind_of(rows.bytes(4));
    if (!kind) throw std::runtime_error("a creative of an unknown kind");
    creative.kind = *kind;
    creative.image_url = rows.optional_text(5);
    creative.html = rows.optional_text(6);
    creative.alt = rows.optional_text(7);
    creative.width = rows.integer(8);
    creative.height = rows.integer(9);
    creative.landing_url = rows.bytes(10);
    creative.created_at = rows.timestamp(11);
    creative.updated_at = rows.timestamp(12);
    return creative;
}

std::optional<AdCreative> one_creative(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return creative_of(rows);
}

std::vector<AdCreative> creatives_of(db::Rows rows) {
    std::vector<AdCreative> list;
    while (rows.next()) list.push_back(creative_of(rows));
    return list;
}

}  // namespace

std::int64_t count_ad_creatives(db::OrgStore& org, CampaignId campaign) {
    static constexpr OrgSql kCount{
        "ad_creatives.count",
        "SELECT COUNT(*) FROM ad_creatives WHERE organization_id = :org AND campaign_id = ? "
        "LOCK IN SHARE MODE"};
    auto rows = org.query(kCount, campaign);
    rows.next();
    return rows.integer(1);
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
    static constexpr OrgSql kFind{"ad_creatives.find",
                                  "SELECT " CREATIVE_COLUMNS
                                  " FROM ad_creatives WHERE organization_id = :org AND id = ?"};
    return one_creative(org.query(kFind, id));
}

std::optional<AdCreative> lock_ad_creative(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kLock{
        "ad_creatives.lock",
        "SELECT " CREATIVE_COLUMNS
        " FROM ad_creatives WHERE organization_id = :org AND id = ? FOR UPDATE"};
    return one_creative(org.query(kLock, id));
}

std::vector<AdCreative> page_ad_creatives(db::OrgStore& org, CreativeId after, int limit) {
    static constexpr OrgSql kPage{"ad_creatives.page",
                                  "SELECT " CREATIVE_COLUMNS
                                  " FROM ad_creatives WHERE organization_id = :org AND id > ? "
                                  "ORDER BY id LIMIT ?"};
    return creatives_of(org.query(kPage, after, limit));
}

std::vector<AdCreative> page_ad_creatives(db::OrgStore& org, CampaignId campaign, CreativeId after,
                                          int limit) {
    static constexpr OrgSql kPage{
        "ad_creatives.page_of_campaign",
        "SELECT " CREATIVE_COLUMNS
        " FROM ad_creatives WHERE organization_id = :org AND campaign_id = ? AND id > ? "
        "ORDER BY id LIMIT ?"};
    return creatives_of(org.query(kPage, campaign, after, limit));
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
