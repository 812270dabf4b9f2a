#include "store/ads/serving.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using rules::AdCandidate;
using rules::AdCreative;

namespace {

// A slot without campaigns has one row without a candidate.
struct Slot {
    std::optional<AdCandidate> candidate;
};
std::optional<rules::Targeting> targeting_of(const std::string& document) {
    return rules::targeting_of(document);
}

constexpr auto kServedCampaign = columns<AdCandidate>(
    column<&AdCandidate::campaign>("c.id"), column<&AdCandidate::weight>("c.weight"),
    column<&AdCandidate::daily_impressions>("c.daily_impressions"),
    column<&AdCandidate::frequency_cap>("c.frequency_cap"),
    column<&AdCandidate::starts_at>("c.starts_at"), column<&AdCandidate::ends_at>("c.ends_at"),
    converted<targeting_of, &AdCandidate::targeting>("c.targeting"));

constexpr auto kServedCreative = columns<AdCreative>(
    column<&AdCreative::id>("r.id"), column<&AdCreative::image_url>("r.image_url"),
    column<&AdCreative::alt>("r.alt"), column<&AdCreative::width>("s.width"),
    column<&AdCreative::height>("s.height"), column<&AdCreative::campaign_id>("r.campaign_id"));

constexpr auto kServedSlot = columns<Slot>(nested<&Slot::candidate>(kServedCampaign));

using Visitor = rules::AdVisitor;
constexpr auto kVisitor = columns<Visitor>(
    column<&Visitor::member>("id"), column<&Visitor::country>("country"),
    column<&Visitor::locale>("locale"), column<&Visitor::attributes>("attributes"));

constexpr auto kShown = db::row<CampaignId, std::int64_t>("campaign_id", "shown");

using CreativesByCampaign = std::map<CampaignId, std::vector<AdCreative>>;

// LIMIT: the maximum number of campaigns in a slot times the maximum number of creatives of a
// campaign.
CreativesByCampaign find_served_creatives(db::OrgStore& org, std::string_view slug, Timestamp from,
                                          Timestamp until) {
    static constexpr OrgSql kFind{
        "ad_serving.find_creatives", kServedCreative,
        "SELECT {columns} FROM ad_slots s "
        "STRAIGHT_JOIN ad_campaign_slots l FORCE INDEX (PRIMARY) "
        "ON l.organization_id = s.organization_id AND l.slot_id = s.id "
        "STRAIGHT_JOIN ad_campaigns c ON c.organization_id = l.organization_id "
        "AND c.id = l.campaign_id AND c.status = 'active' AND c.starts_at < ? "
        "AND (c.ends_at IS NULL OR c.ends_at > ?) "
        "STRAIGHT_JOIN ad_creatives r FORCE INDEX (campaign) "
        "ON r.organization_id = c.organization_id AND r.campaign_id = c.id "
        "AND r.width = s.width AND r.height = s.height "
        "WHERE s.organization_id = :org AND s.slug = ? LIMIT 2000"};
    CreativesByCampaign found;
    for (AdCreative creative : org.each(kFind, until, from, slug)) {
        creative.kind = creative.image_url ? rules::CreativeKind::Image : rules::CreativeKind::Html;
        found[creative.campaign_id].push_back(std::move(creative));
    }
    return found;
}

}  // namespace

std::optional<rules::AdVisitor> find_ad_member(db::OrgStore& org, UserId user) {
    static constexpr OrgSql kFind{
        "ad_serving.find_member", kVisitor,
        "SELECT {columns} FROM members WHERE organization_id = :org AND user_id = ?"};
    return org.one(kFind, user);
}

// LIMIT: the maximum number of campaigns of an organization.
std::map<CampaignId, std::int64_t> find_shown_today(db::OrgStore& org, MemberId member,
                                                    std::int64_t day) {
    static constexpr OrgSql kFind{
        "ad_serving.find_shown", kShown,
        "SELECT {columns} FROM ad_member_days FORCE INDEX (member) "
        "WHERE organization_id = :org AND member_id = ? AND day = ? LIMIT 500"};
    std::map<CampaignId, std::int64_t> shown;
    for (const auto [campaign, count] : org.each(kFind, member, day)) shown[campaign] = count;
    return shown;
}

std::optional<std::vector<AdCandidate>> find_ad_candidates(db::OrgStore& org, std::string_view slug,
                                                           Timestamp from, Timestamp until) {
    // A campaign's targeting has several KiB, so it is not repeated with each creative.
    // LIMIT: the maximum number of campaigns in a slot.
    static constexpr OrgSql kFind{
        "ad_serving.find_campaigns", kServedSlot,
        "SELECT {columns} FROM ad_slots s "
        "LEFT JOIN (ad_campaign_slots l FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN ad_campaigns c ON c.organization_id = l.organization_id "
        "AND c.id = l.campaign_id) "
        "ON l.organization_id = s.organization_id AND l.slot_id = s.id AND c.status = 'active' "
        "AND c.starts_at < ? AND (c.ends_at IS NULL OR c.ends_at > ?) "
        "WHERE s.organization_id = :org AND s.slug = ? LIMIT 100"};
    std::optional<std::vector<AdCandidate>> candidates;
    for (Slot slot : org.each(kFind, until, from, slug)) {
        if (!candidates) candidates.emplace();
        if (slot.candidate) candidates->push_back(std::move(*slot.candidate));
    }
    if (!candidates || candidates->empty()) return candidates;
    CreativesByCampaign creatives = find_served_creatives(org, slug, from, until);
    for (AdCandidate& candidate : *candidates) {
        candidate.creatives = std::move(creatives[candidate.campaign]);
    }
    std::erase_if(*candidates, [](const AdCandidate& one) { return one.creatives.empty(); });
    candidates->shrink_to_fit();
    return candidates;
}

std::optional<std::string> find_creative_html(db::OrgStore& org, CreativeId id) {
    static constexpr OrgSql kFind{
        "ad_serving.find_html",
        "SELECT html FROM ad_creatives WHERE organization_id = :org AND id = ?"};
    return or_empty(org.one<std::optional<std::string>>(kFind, id));
}

bool reserve_budget(db::OrgStore& org, CampaignId campaign, std::int64_t day, std::int64_t count,
                    std::int64_t most, Timestamp now) {
    static constexpr OrgSql kReserve{
        "ad_serving.reserve_of_budget",
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, served, returned_at) "
        "VALUES (:org, ?, ?, ?, ?) "
        "ON DUPLICATE KEY UPDATE returned_at = IF(served = 0, ?, returned_at), "
        "served = IF(served + ? <= ?, served + ?, served)"};
    return most >= count &&
           org.execute(kReserve, campaign, day, count, now, now, count, most, count) > 0;
}

bool return_unseen(db::OrgStore& org, CampaignId campaign, std::int64_t day, Timestamp before,
                   Timestamp now) {
    static constexpr OrgSql kReturn{
        "ad_serving.return_unseen",
        "UPDATE ad_campaign_days SET served = impressions, returned_at = ? "
        "WHERE organization_id = :org AND campaign_id = ? AND day = ? "
        "AND served > impressions AND returned_at <= ?"};
    return org.execute(kReturn, now, campaign, day, before) > 0;
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
        "SELECT o.id, ?, ?, ? FROM organizations o WHERE o.id = :org AND o.disabled_at IS NULL"};
    bool is_inserted = false;
    const bool is_new = db::try_unique(
        [&] { is_inserted = org.execute(kInsert, token.serving, text_of(token.kind), now) == 1; });
    return is_new && is_inserted;
}

void count_redemption(db::OrgStore& org, const rules::AdToken& token, std::int64_t day) {
    static constexpr OrgSql kCount{
        "ad_serving.count_redemption",
        "INSERT INTO ad_campaign_days (organization_id, campaign_id, day, impressions, clicks) "
        "SELECT c.organization_id, c.id, ?, ?, ? FROM ad_campaigns c "
        "WHERE c.organization_id = :org AND c.id = ? "
        "ON DUPLICATE KEY UPDATE impressions = impressions + IF(ad_campaign_days.impressions < "
        "COALESCE(c.daily_impressions, 9223372036854775807), ?, 0), clicks = clicks + ?"};
    const bool is_click = token.kind == rules::AdTokenKind::Click;
    org.execute(kCount, day, !is_click, is_click, token.campaign, !is_click, is_click);
}

std::optional<std::string> find_landing_url(db::OrgStore& org, CampaignId campaign,
                                            CreativeId creative) {
    static constexpr OrgSql kFind{"ad_serving.find_landing_url",
                                  "SELECT landing_url FROM ad_creatives "
                                  "WHERE organization_id = :org AND id = ? AND campaign_id = ?"};
    return org.one<std::string>(kFind, creative, campaign);
}

void delete_ad_days_of(db::OrgStore& org, MemberId member) {
    static constexpr OrgSql kDelete{
        "ad_serving.delete_days_of_member",
        "DELETE FROM ad_member_days WHERE organization_id = :org AND member_id = ?"};
    org.execute(kDelete, member);
}

void delete_ad_days_of(db::OrgStore& org, std::span<const MemberId> members) {
    static constexpr OrgSql kDelete{
        "ad_serving.delete_days_of_members",
        "DELETE FROM ad_member_days WHERE organization_id = :org AND member_id IN ({?})"};
    if (members.empty()) return;
    org.execute_bulk(kDelete, members.size(),
                     std::vector<db::Param>(members.begin(), members.end()));
}

}  // namespace muster::store
