#include "store/organization/summary.hpp"

#include <vector>

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;

namespace {

using rules::ActiveImport;
using rules::AdTotals;
using rules::ConnectionCounts;
using rules::EndpointCounts;
using rules::TeamCounts;

constexpr auto kActiveImport =
    columns<ActiveImport>(column<&ActiveImport::id>("id"), column<&ActiveImport::state>("state"),
                          column<&ActiveImport::file_name>("file_name"),
                          column<&ActiveImport::staged_rows>("staged_rows"),
                          column<&ActiveImport::processed_rows>("processed_rows"),
                          column<&ActiveImport::invalid_rows>("invalid_rows"),
                          column<&ActiveImport::created_at>("created_at"));

// Valid keys, and those of them that end until a time.
constexpr auto kKeys =
    db::row<std::int64_t, std::int64_t>("COUNT(*)", "COUNT(IF(expires_at <= ?, 1, NULL))");
constexpr auto kPublishableKeys = db::row<std::int64_t, std::int64_t, std::int64_t, std::int64_t>(
    "COUNT(IF(kind = 'tracking', 1, NULL))",
    "COUNT(IF(kind = 'tracking' AND expires_at <= ?, 1, NULL))",
    "COUNT(IF(kind = 'content', 1, NULL))",
    "COUNT(IF(kind = 'content' AND expires_at <= ?, 1, NULL))");

constexpr auto kSeats =
    columns<TeamCounts>(column<&TeamCounts::owners>("COUNT(IF(role = 'owner', 1, NULL))"),
                        column<&TeamCounts::admins>("COUNT(IF(role = 'admin', 1, NULL))"),
                        column<&TeamCounts::viewers>("COUNT(IF(role = 'viewer', 1, NULL))"));
constexpr auto kInvitations = db::row<std::int64_t, std::int64_t>(
    "COUNT(IF(role = 'owner', 1, NULL))", "COUNT(IF(role <> 'owner', 1, NULL))");

constexpr auto kEndpointCounts = columns<EndpointCounts>(
    column<&EndpointCounts::active>(
        "COUNT(IF(status = 'active' AND failing_since IS NULL, 1, NULL))"),
    column<&EndpointCounts::failing>(
        "COUNT(IF(status = 'active' AND failing_since IS NOT NULL, 1, NULL))"),
    column<&EndpointCounts::paused>("COUNT(IF(status = 'paused', 1, NULL))"),
    column<&EndpointCounts::disabled>("COUNT(IF(status = 'disabled', 1, NULL))"));

constexpr auto kConnectionCounts = columns<ConnectionCounts>(
    column<&ConnectionCounts::pending>("COUNT(IF(status = 'pending', 1, NULL))"),
    column<&ConnectionCounts::connected>("COUNT(IF(status = 'connected', 1, NULL))"),
    column<&ConnectionCounts::expired>("COUNT(IF(status = 'expired', 1, NULL))"),
    column<&ConnectionCounts::revoked>("COUNT(IF(status = 'revoked', 1, NULL))"),
    column<&ConnectionCounts::error>("COUNT(IF(status = 'error', 1, NULL))"));

constexpr auto kAdTotals =
    columns<AdTotals>(column<&AdTotals::impressions>("COALESCE(SUM(d.impressions), 0)"),
                      column<&AdTotals::clicks>("COALESCE(SUM(d.clicks), 0)"));

}  // namespace

std::int64_t count_members_of_status(db::OrgStore& org, std::string_view status,
                                     std::int64_t most) {
    static constexpr OrgSql kCount{
        "summary.members_of_status",
        "SELECT COUNT(*) FROM (SELECT 1 FROM members FORCE INDEX (status) "
        "WHERE organization_id = :org AND status = ? LIMIT ?) AS counted"};
    return org.value<std::int64_t>(kCount, status, most);
}

std::int64_t count_members_changed(db::OrgStore& org, Timestamp since, std::int64_t most) {
    static constexpr OrgSql kCount{
        "summary.members_changed",
        "SELECT COUNT(*) FROM (SELECT 1 FROM members FORCE INDEX (updated_at) "
        "WHERE organization_id = :org AND updated_at >= ? LIMIT ?) AS counted"};
    return org.value<std::int64_t>(kCount, since, most);
}

std::optional<ActiveImport> find_active_import(db::OrgStore& org, Timestamp now) {
    static constexpr OrgSql kFind{
        "summary.active_import", kActiveImport,
        "SELECT {columns} FROM import_jobs FORCE INDEX (active_job) "
        "WHERE organization_id = :org AND active_job = 1 AND expires_at > ?"};
    return org.one(kFind, now);
}

TeamCounts count_team(db::OrgStore& org, Timestamp now) {
    static constexpr OrgSql kCountSeats{"summary.seats", kSeats,
                                        "SELECT {columns} FROM seats FORCE INDEX (PRIMARY) "
                                        "WHERE organization_id = :org"};
    static constexpr OrgSql kCountInvitations{
        "summary.invitations", kInvitations,
        "SELECT {columns} FROM seat_invitations FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND expires_at > ?"};
    TeamCounts team = org.value(kCountSeats);
    std::tie(team.invited_owners, team.invited_others) = org.value(kCountInvitations, now);
    return team;
}

std::int64_t count_enabled_attributes(db::OrgStore& org) {
    static constexpr OrgSql kCount{"summary.attributes",
                                   "SELECT COUNT(*) FROM attributes FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org AND enabled"};
    return org.value<std::int64_t>(kCount);
}

KeySummary count_keys(db::OrgStore& org, Timestamp now, Timestamp until) {
    static constexpr OrgSql kApiKeys{
        "summary.api_keys", kKeys,
        "SELECT {columns} FROM api_keys FORCE INDEX (PRIMARY) WHERE organization_id = :org "
        "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"};
    static constexpr OrgSql kPublishable{
        "summary.publishable_keys", kPublishableKeys,
        "SELECT {columns} FROM publishable_keys FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org "
        "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"};
    static constexpr OrgSql kCredentials{
        "summary.module_credentials", kKeys,
        "SELECT {columns} FROM module_credentials FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org "
        "AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)"};
    KeySummary keys;
    auto& [valid, expiring] = keys;
    std::tie(valid.api_keys, expiring.api_keys) = org.value(kApiKeys, until, now);
    std::tie(valid.tracking_keys, expiring.tracking_keys, valid.content_keys,
             expiring.content_keys) = org.value(kPublishable, until, until, now);
    std::tie(valid.module_credentials, expiring.module_credentials) =
        org.value(kCredentials, until, now);
    return keys;
}

EndpointCounts count_endpoints_by_state(db::OrgStore& org) {
    static constexpr OrgSql kCount{"summary.webhook_endpoints", kEndpointCounts,
                                   "SELECT {columns} FROM webhook_endpoints FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org AND removed_at IS NULL"};
    return org.value(kCount);
}

ConnectionCounts count_connections_of(db::OrgStore& org) {
    static constexpr OrgSql kCount{"summary.connections", kConnectionCounts,
                                   "SELECT {columns} FROM connections FORCE INDEX (PRIMARY) "
                                   "WHERE organization_id = :org AND removed_at IS NULL"};
    return org.value(kCount);
}

rules::ArticleCounts count_articles_by_status(db::OrgStore& org, Timestamp now, std::int64_t most) {
    // Three ranges of one index, whose entries have no text.
    static constexpr OrgSql kPublished{
        "summary.published_articles",
        "SELECT COUNT(*) FROM (SELECT 1 FROM articles FORCE INDEX (published) "
        "WHERE organization_id = :org AND published_at <= ? LIMIT ?) AS counted"};
    static constexpr OrgSql kScheduled{
        "summary.scheduled_articles",
        "SELECT COUNT(*) FROM (SELECT 1 FROM articles FORCE INDEX (published) "
        "WHERE organization_id = :org AND published_at > ? LIMIT ?) AS counted"};
    static constexpr OrgSql kDrafts{
        "summary.draft_articles",
        "SELECT COUNT(*) FROM (SELECT 1 FROM articles FORCE INDEX (published) "
        "WHERE organization_id = :org AND published_at IS NULL LIMIT ?) AS counted"};
    return {org.value<std::int64_t>(kPublished, now, most),
            org.value<std::int64_t>(kScheduled, now, most), org.value<std::int64_t>(kDrafts, most)};
}

AdTotals sum_ad_days(db::OrgStore& org, std::int64_t first_day) {
    static_assert(rules::kSummarizedAdDays == 7, "kSum has seven days");
    // One look-up for each campaign and day. A condition on the day alone would read all days.
    static constexpr OrgSql kSum{
        "summary.ad_days", kAdTotals,
        "SELECT {columns} FROM (SELECT ? AS day UNION ALL SELECT ? UNION ALL SELECT ? "
        "UNION ALL SELECT ? UNION ALL SELECT ? UNION ALL SELECT ? UNION ALL SELECT ?) days "
        "STRAIGHT_JOIN ad_campaigns c FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN ad_campaign_days d FORCE INDEX (PRIMARY) ON d.organization_id = :org "
        "AND d.campaign_id = c.id AND d.day = days.day WHERE c.organization_id = :org"};
    std::vector<Param> days;
    days.reserve(rules::kSummarizedAdDays);
    for (int i = 0; i < rules::kSummarizedAdDays; ++i) days.emplace_back(first_day + i);
    for (AdTotals counts : org.each_bulk(kSum, 1, days)) return counts;
    return {};
}

}  // namespace muster::store
