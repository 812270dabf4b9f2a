#include "store/engagement/events.hpp"

#include "db/sql_text.hpp"
#include "store/batches.hpp"
#include "store/id_bounds.hpp"
#include "store/stored_json.hpp"

#include <algorithm>
#include <tuple>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::kSqlText;
using db::OrgSql;
using db::Param;
using db::SqlText;

namespace {

constexpr auto kEvent = columns<rules::EngagementEvent>(
    column<&rules::EngagementEvent::id>("id"), column<&rules::EngagementEvent::type>("type"),
    column<&rules::EngagementEvent::source>("IF(installation_id IS NULL, 'tracked', 'signed')"),
    column<&rules::EngagementEvent::action>("action"),
    converted<stored_texts, &rules::EngagementEvent::tags>("tags"),
    converted<stored_json, &rules::EngagementEvent::metadata>("metadata"),
    column<&rules::EngagementEvent::client_event_id>("COALESCE(ingest_event_id, client_event_id)"),
    column<&rules::EngagementEvent::occurred_at>("occurred_at"),
    column<&rules::EngagementEvent::received_at>("received_at"),
    column<&rules::EngagementEvent::geo_country>("geo_country"),
    column<&rules::EngagementEvent::geo_region>("geo_region"));

constexpr auto kMembersEvent = columns<rules::EngagementEvent>(
    kEvent, column<&rules::EngagementEvent::member_id>("member_id"));

constexpr auto kRecent = columns<rules::EngagementEvent>(
    column<&rules::EngagementEvent::id>("e.id"), column<&rules::EngagementEvent::type>("e.type"),
    column<&rules::EngagementEvent::source>("IF(e.installation_id IS NULL, 'tracked', 'signed')"),
    column<&rules::EngagementEvent::member_id>("m.id"),
    column<&rules::EngagementEvent::user_id>("m.user_id"),
    column<&rules::EngagementEvent::member_external_id>("m.external_id"),
    column<&rules::EngagementEvent::action>("e.action"),
    converted<stored_texts, &rules::EngagementEvent::tags>("e.tags"),
    converted<stored_json, &rules::EngagementEvent::metadata>("e.metadata"),
    column<&rules::EngagementEvent::client_event_id>(
        "COALESCE(e.ingest_event_id, e.client_event_id)"),
    column<&rules::EngagementEvent::occurred_at>("e.occurred_at"),
    column<&rules::EngagementEvent::received_at>("e.received_at"),
    column<&rules::EngagementEvent::geo_country>("e.geo_country"),
    column<&rules::EngagementEvent::geo_region>("e.geo_region"),
    column<&rules::EngagementEvent::anonymous_id>("e.anonymous_id"));

// `id_column`: the column of the sender's id, which is unique among the events of the same source.
constexpr SqlText insert_text(std::string_view id_column) {
    return {
        "INSERT INTO engagement_events (organization_id, id, member_id, installation_id, type, "
        "action, tags, metadata, ",
        id_column,
        ", occurred_at, received_at, geo_country, geo_region, anonymous_id) "
        "VALUES {(:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}"};
}

// The order of a member's events.
bool is_newer(const rules::EngagementEvent& left, const rules::EngagementEvent& right) {
    return std::tie(left.occurred_at, left.id) > std::tie(right.occurred_at, right.id);
}

// JSON as stored; nullopt becomes NULL.
std::optional<std::string> text_of(const std::optional<RawJson>& json) {
    return json ? std::optional(json->text) : std::nullopt;
}

}  // namespace

std::optional<std::string> find_installed_manifest(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kFind{
        "engagement_events.find_manifest",
        "SELECT v.manifest FROM module_installations i JOIN module_versions v "
        "ON v.organization_id = i.organization_id AND v.id = i.version_id "
        "WHERE i.organization_id = :org AND i.id = ?"};
    return org.one<std::string>(kFind, installation);
}

std::vector<std::string> find_client_events(db::OrgStore& org, std::span<const std::string> ids) {
    static constexpr OrgSql kFind{
        "engagement_events.find_client_events",
        "SELECT client_event_id FROM engagement_events FORCE INDEX (client_event) "
        "WHERE organization_id = :org AND client_event_id IN ({?})"};
    std::vector<std::string> found;
    in_batches(ids, [&](const std::vector<Param>& params) {
        for (auto id : org.each_bulk<std::string>(kFind, params.size(), params)) {
            found.push_back(std::move(id));
        }
    });
    return found;
}

std::vector<std::string> find_ingested_events(db::OrgStore& org, InstallationId installation,
                                              std::span<const std::string> ids) {
    static constexpr OrgSql kFind{
        "engagement_events.find_ingested",
        "SELECT ingest_event_id FROM engagement_events FORCE INDEX (ingest_event) "
        "WHERE organization_id = :org AND installation_id = ? AND ingest_event_id IN ({?})"};
    static constexpr OrgSql kFindOlder{
        "engagement_events.find_ingested_before",
        "SELECT client_event_id FROM engagement_events FORCE INDEX (client_event) "
        "WHERE organization_id = :org AND installation_id = ? AND client_event_id IN ({?})"};
    std::vector<std::string> found;
    in_batches(ids, [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.insert(params.begin(), installation);
        for (const auto* find : {&kFind, &kFindOlder}) {
            for (auto id : org.each_bulk<std::string>(*find, count, params)) {
                found.push_back(std::move(id));
            }
        }
    });
    return found;
}

void insert_engagement_events(db::OrgStore& org, std::optional<InstallationId> installation,
                              std::span<const rules::EngagementEvent> events) {
    static constexpr OrgSql kInsert{"engagement_events.insert",
                                    kSqlText<[] { return insert_text("client_event_id"); }>};
    static constexpr OrgSql kInsertIngested{
        "engagement_events.insert_ingested",
        kSqlText<[] { return insert_text("ingest_event_id"); }>};
    in_pieces(events, [&](std::span<const rules::EngagementEvent> piece) {
        std::vector<Param> params;
        std::vector<std::optional<std::string>> metadata;
        params.reserve(piece.size() * 13);
        metadata.reserve(piece.size());
        for (const rules::EngagementEvent& event : piece) {
            params.insert(params.end(),
                          {event.id, event.member_id, installation, event.type, event.action,
                           event.tags.text, metadata.emplace_back(text_of(event.metadata)),
                           event.client_event_id, event.occurred_at, event.received_at,
                           event.geo_country, event.geo_region, event.anonymous_id});
        }
        org.execute_bulk(installation ? kInsertIngested : kInsert, piece.size(), params);
    });
}

// Most reads are of the first page, which has no position. The server would plan its ranges for
// each execution.
std::vector<std::vector<rules::EngagementEvent>> first_engagement_events(
    db::OrgStore& org, std::span<const FirstPage> pages) {
    static constexpr OrgSql kFirst{
        "engagement_events.first_pages", kMembersEvent,
        "{ UNION ALL (SELECT {columns} FROM engagement_events FORCE INDEX (member_events) "
        "WHERE organization_id = :org AND member_id = ? "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?)}"};
    std::vector<Param> params;
    for (const FirstPage& page : pages) {
        params.emplace_back(page.member);
        params.emplace_back(page.limit);
    }
    std::vector<std::vector<rules::EngagementEvent>> found(pages.size());
    for (auto event : org.each_bulk(kFirst, pages.size(), params)) {
        const auto page = std::ranges::find(pages, event.member_id, &FirstPage::member);
        found.at(static_cast<std::size_t>(page - pages.begin())).push_back(std::move(event));
    }
    // SQL does not promise an order of all rows.
    for (auto& events : found) {
        if (!std::ranges::is_sorted(events, is_newer)) std::ranges::sort(events, is_newer);
    }
    return found;
}

std::vector<rules::EngagementEvent> page_engagement_events(
    db::OrgStore& org, MemberId member, const std::optional<EventPosition>& after, int limit) {
    if (!after) return first_engagement_events(org, {{{member, limit}}}).front();
    // Both conditions are ranges of the same index, read backwards. So no event before the position
    // is read, even if many events have the same time.
    static constexpr OrgSql kPage{
        "engagement_events.page", kEvent,
        "SELECT {columns} FROM engagement_events FORCE INDEX (member_events) "
        "WHERE organization_id = :org AND member_id = ? "
        "AND ((occurred_at = ? AND id < ?) OR occurred_at < ?) "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?"};
    return org.all(kPage, member, after->occurred_at, after->id, after->occurred_at, limit);
}

std::int64_t count_member_events(db::OrgStore& org, MemberId member, std::int64_t most) {
    static constexpr OrgSql kCount{
        "engagement_events.count_of_member",
        "SELECT COUNT(*) FROM (SELECT 1 FROM engagement_events FORCE INDEX (member_events) "
        "WHERE organization_id = :org AND member_id = ? LIMIT ?) AS counted"};
    return org.value<std::int64_t>(kCount, member, most);
}

std::vector<rules::EngagementEvent> page_recent_events(db::OrgStore& org, Timestamp since,
                                                       std::optional<EventId> before, int limit) {
    // Ids are UUIDv7 of the time of reception, so the primary key has the events in their order.
    static constexpr OrgSql kPage{"engagement_events.page_recent", kRecent,
                                  "SELECT {columns} FROM engagement_events e FORCE INDEX (PRIMARY) "
                                  "LEFT JOIN members m FORCE INDEX (member) "
                                  "ON m.organization_id = :org AND m.id = e.member_id "
                                  "WHERE e.organization_id = :org AND e.id >= ? AND e.id < ? "
                                  "ORDER BY e.id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    return org.all(kPage, id_before(since, Milliseconds(0)), before ? Param(*before) : Param(last),
                   limit);
}

}  // namespace muster::store
