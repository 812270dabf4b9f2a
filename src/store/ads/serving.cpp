#include "store/ads/serving.hpp"

#include <map>

namespace muster::store {

using db::OrgSql;
using rules::AdCandidate;

namespace {

AdCandidate candidate_of(const db::Rows& rows) {
    AdCandidate candidate;
    candidate.campaign = rows.id<CampaignId>(1);
    candidate.weight = rows.integer(2);
    candidate.daily_impressions = rows.optional_integer(3);
    candidate.frequency_cap = rows.optional_integer(4);
    candidate.starts_at = rows.timestamp(5);
    candidate.ends_at = rows.optional_timestamp(6);
    candidate.targeting = rules::targeting_of(rows.bytes(7));
    return candidate;
}

rules::AdCreative creative_of(const db::Rows& rows) {
    rules::AdCreative creative;
    creative.campaign_id = rows.id<CampaignId>(1);
    creative.id = rows.id<CreativeId>(8);
    creative.image_url = rows.optional_text(9);
    creative.kind = creative.image_url ? rules::CreativeKind::Image : rules::CreativeKind::Html;
    creative.alt = rows.optional_text(10);
    creative.width = rows.integer(11);
    creative.height = rows.integer(12);
    return creative;
}

}  // namespace

std::optional<rules::AdVisitor> find_ad_member(db::OrgStore& org, UserId user, std::int64_t day) {
    static constexpr OrgSql kFind{
        "ad_serving.find_member",
        "SELECT m.id, m.country, m.locale, m.attributes, d.campaign_id, d.shown FROM members m "
        "LEFT JOIN ad_member_days d ON d.organization_id = m.organization_id "
        "AND d.member_id = m.id AND d.day = ? WHERE m.organization_id = :org AND m.user_id = ?"};
    std::optional<rules::AdVisitor> visitor;
    for (auto rows = org.query(kFind, day, user); rows.next();) {
        if (!visitor) {
            visitor.emplace();
            visitor->member = rows.id<MemberId>(1);
            visitor->country = rows.optional_text(2);
            visitor->locale = rows.optional_text(3);
            visitor->attributes = rows.bytes(4);
        }
        if (!rows.is_null(5)) visitor->shown[rows.id<CampaignId>(5)] = rows.integer(6);
    }
    return visitor;
}

std::optional<std::vector<AdCandidate>> find_ad_candidates(db::OrgStore& org, std::string_view slug,
                                                           Timestamp from, Timestamp until) {
    // LIMIT: the bounds of a slot's campaigns and of a campaign's creatives, multiplied.
    static constexpr OrgSql kFind{
        "ad_serving.find_candidates",
        "SELECT c.id, c.weight, c.daily_impressions, c.frequency_cap, c.starts_at, c.ends_at, "
        "c.targeting, r.id, r.image_url, r.alt, s.width, s.height FROM ad_slots s "
        "LEFT JOIN (ad_campaign_slots l "
        "JOIN ad_campaigns c ON c.organization_id = l.organization_id AND c.id = l.campaign_id "
        "JOIN ad_creatives r ON r.organization_id = c.organization_id AND r.campaign_id = c.id) "
        "ON l.organization_id = s.organization_id AND l.slot_id = s.id AND c.status = 'active' "
        "AND c.starts_at < ? AND (c.ends_at IS NULL OR c.ends_at > ?) "
        "AND r.width = s.width AND r.height = s.height "
        "WHERE s.organization_id = :org AND s.slug = ? LIMIT 2000"};
    auto rows = org.query(kFind, until, from, slug);
    std::vector<AdCandidate> candidates;
    std::map<CampaignId, std::size_t> places;
    bool is_there = false;
    while (rows.next()) {
        is_there = true;
        if (rows.is_null(1)) break;  // the slot alone
        const auto [place, is_new] = places.emplace(rows.id<CampaignId>(1), candidates.size());
        if (is_new) candidates.push_back(candidate_of(rows));
        candidates[place->second].creatives.push_back(creative_of(rows));
    }
    return is_there ? std::optional(std::move(candidates)) : std::nullopt;
}

std::optional<std::string> find_creative_html(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kFind{
        "ad_serving.find_html",
        "SELECT html FROM ad_creatives WHERE organization_id = :org AND id = ?"};
    auto rows = org.query(kFind, id);
    return rows.next() ? rows.optional_text(1) : std::nullopt;
}

bool reserve_of_budget(db::OrgStore& org, CampaignId campaign, std::int64_t day, std::int64_t count,
                       std::int64_t most) {
    static constexpr OrgSql kReserve{
        "ad_serving.reserve_of_budget",
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, served) "
        "VALUES (:org, ?, ?, ?) "
        "ON DUPLICATE KEY UPDATE served = IF(served + ? <= ?, served + ?, served)"};
    return most >= count && org.execute(kReserve, campaign, day, count, count, most, count) > 0;
}

bool reserve_for_member(db::OrgStore& org, CampaignId campaign, MemberId member, std::int64_t day,
                        std::int64_t most) {
    static constexpr OrgSql kReserve{
        "ad_serving.reserve_for_member",
        "INSERT INTO ad_member_days (organization_id, campaign_id, member_id, day, shown) "
        "SELECT c.organization_id, c.id, ?, ?, 1 FROM ad_campaigns c "
        "WHERE c.organization_id = :org AND c.id = ? "
        "ON DUPLICATE KEY UPDATE shown = IF(shown < ?, shown + 1, shown)"};
    return most > 0 && org.execute(kReserve, member, day, campaign, most) > 0;
}

bool insert_redemption(db::OrgStore& org, const rules::AdToken& token, Timestamp now) {
    static constexpr OrgSql kInsert{
        "ad_serving.insert_redemption",
        "INSERT INTO ad_redemptions (organization_id, serving_id, kind, redeemed_at) "
        "VALUES (:org, ?, ?, ?)"};
    return db::unless_taken([&] { org.execute(kInsert, token.serving, text_of(token.kind), now); });
}

void count_redemption(db::OrgStore& org, const rules::AdToken& token, std::int64_t day) {
    static constexpr OrgSql kCount{
        "ad_serving.count_redemption",
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, impressions, clicks) "
        "SELECT c.organization_id, c.id, ?, ?, ? FROM ad_campaigns c "
        "WHERE c.organization_id = :org AND c.id = ? "
        "ON DUPLICATE KEY UPDATE impressions = impressions + ?, clicks = clicks + ?"};
    const bool is_click = token.kind == rules::AdTokenKind::Click;
    org.execute(kCount, day, !is_click, is_click, token.campaign, !is_click, is_click);
}

std::optional<std::string> find_landing_url(db::OrgStore& org, CampaignId campaign,
                                            CreativeId creative) {
    static constexpr OrgSql kFind{"ad_serving.find_landing_url",
                                  "SELECT landing_url FROM ad_creatives "
                                  "WHERE organization_id = :org AND id = ? AND campaign_id = ?"};
    auto rows = org.query(kFind, creative, campaign);
    return rows.next() ? std::optional(rows.bytes(1)) : std::nullopt;
}

void delete_ad_days_of(db::OrgStore& org, MemberId member) {
    static constexpr OrgSql kDelete{
        "ad_serving.delete_days_of_member",
        "DELETE FROM ad_member_days WHERE organization_id = :org AND member_id = ?"};
    org.execute(kDelete, member);
}

}  // namespace muster::store
