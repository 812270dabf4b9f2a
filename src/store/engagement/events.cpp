#include "store/engagement/events.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace muster::store {

using db::OrgSql;
using db::Param;

namespace {

// JSON as it is stored; NULL for none.
std::optional<std::string> text_of(const std::optional<RawJson>& json) {
    return json ? std::optional(json->text) : std::nullopt;
}

std::string json_of(const std::vector<std::string>& tags) {
    std::string text;
    JsonWriter writer(text);
    Wire<std::vector<std::string>>::write(writer, tags);
    return text;
}

std::vector<std::string> tags_of(const std::string& json) {
    Json::Value value;
    if (!parse_json(json, value) || !value.isArray()) {
        throw std::runtime_error("an engagement event's tags are no list");
    }
    std::vector<std::string> tags;
    for (const Json::Value& tag : value) tags.push_back(tag.asString());
    return tags;
}

rules::EngagementEvent event_of(const db::Rows& rows) {
    const auto text = [&](unsigned column) {
        return rows.is_null(column) ? std::nullopt : std::optional(rows.bytes(column));
    };
    rules::EngagementEvent event;
    event.id = rows.id<EventId>(1);
    event.type = text(2);
    event.action = rows.bytes(3);
    event.tags = tags_of(rows.bytes(4));
    if (auto metadata = text(5)) event.metadata = RawJson{std::move(*metadata)};
    event.client_event_id = text(6);
    event.occurred_at = rows.timestamp(7);
    event.received_at = rows.timestamp(8);
    event.geo_country = text(9);
    event.geo_region = text(10);
    return event;
}

// Statements come in few lengths, so that the connection keeps them prepared: powers of two.
constexpr std::size_t kMostRows = 256;
std::size_t piece_of(std::size_t left) {
    return std::min(kMostRows, std::bit_floor(left));
}

// Each piece of the values; the last one is filled up with its last value, which asks nothing new.
template <class Value, class Use>
void in_pieces(std::span<const Value> values, const Use& use) {
    for (std::size_t at = 0; at < values.size(); at += kMostRows) {
        const auto piece = values.subspan(at, std::min(kMostRows, values.size() - at));
        std::vector<Param> params(piece.begin(), piece.end());
        params.resize(std::bit_ceil(params.size()), params.back());
        use(params);
    }
}

void add_members(std::vector<LinkedMember>& to, db::Rows rows) {
    while (rows.next()) {
        LinkedMember& member = to.emplace_back();
        member.user = rows.id<UserId>(1);
        member.member = rows.id<MemberId>(2);
        if (!rows.is_null(3)) member.external_id = rows.bytes(3);
    }
}

template <class Value>
std::vector<LinkedMember> find_members(db::OrgStore& org, const OrgSql& sql, const OrgSql& shared,
                                       std::span<const Value> values, Lock lock) {
    std::vector<LinkedMember> found;
    const OrgSql& asked = lock == Lock::Share ? shared : sql;
    in_pieces(values, [&](const std::vector<Param>& params) {
        add_members(found, org.query_bulk(asked, params.size(), params));
    });
    return found;
}

}  // namespace

std::optional<std::string> find_installed_manifest(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kFind{
        "engagement_events.find_manifest",
        "SELECT v.manifest FROM module_installations i JOIN module_versions v "
        "ON v.organization_id = i.organization_id AND v.id = i.version_id "
        "WHERE i.organization_id = :org AND i.id = ?"};
    auto rows = org.query(kFind, installation);
    if (!rows.next()) return std::nullopt;
    return rows.bytes(1);
}

std::vector<LinkedMember> find_members_by_user(db::OrgStore& org, std::span<const UserId> users,
                                               Lock lock) {
    static constexpr OrgSql kFind{"engagement_events.find_by_user",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND user_id IN ({?})"};
    static constexpr OrgSql kHold{
        "engagement_events.hold_by_user",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND user_id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kHold, users, lock);
}

std::vector<LinkedMember> find_members_by_id(db::OrgStore& org, std::span<const MemberId> members,
                                             Lock lock) {
    static constexpr OrgSql kFind{"engagement_events.find_by_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND id IN ({?})"};
    static constexpr OrgSql kHold{
        "engagement_events.hold_by_id",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND id IN ({?}) LOCK IN SHARE MODE"};
    return find_members(org, kFind, kHold, members, lock);
}

std::vector<LinkedMember> find_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids,
                                                      Lock lock) {
    static constexpr OrgSql kFind{"engagement_events.find_by_external_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ?"};
    static constexpr OrgSql kHold{
        "engagement_events.hold_by_external_id",
        "SELECT user_id, id, external_id FROM members "
        "WHERE organization_id = :org AND external_id IN ({?}) LIMIT ? LOCK IN SHARE MODE"};
    const auto ask = [&](std::vector<Param> params, int limit) {
        const std::size_t groups = params.size();
        params.emplace_back(limit);
        std::vector<LinkedMember> found;
        add_members(found, org.query_bulk(lock == Lock::Share ? kHold : kFind, groups, params));
        return found;
    };
    std::vector<LinkedMember> found;
    in_pieces(external_ids, [&](const std::vector<Param>& params) {
        // One more than there can be, unless some are shared: by a few members or by all that the
        // organization has. Then each is asked for by itself.
        const int limit = static_cast<int>(params.size()) + 1;
        std::vector<LinkedMember> some = ask(params, limit);
        if (static_cast<int>(some.size()) == limit) {
            some.clear();
            for (const Param& param : params) {
                const auto of_one = ask({param}, 2);
                some.insert(some.end(), of_one.begin(), of_one.end());
            }
        }
        found.insert(found.end(), some.begin(), some.end());
    });
    return found;
}

std::vector<std::string> find_client_events(db::OrgStore& org, std::span<const std::string> ids) {
    static constexpr OrgSql kFind{"engagement_events.find_client_events",
                                  "SELECT client_event_id FROM engagement_events "
                                  "WHERE organization_id = :org AND client_event_id IN ({?})"};
    std::vector<std::string> found;
    in_pieces(ids, [&](const std::vector<Param>& params) {
        for (auto rows = org.query_bulk(kFind, params.size(), params); rows.next();) {
            found.push_back(rows.bytes(1));
        }
    });
    return found;
}

void insert_engagement_events(db::OrgStore& org, std::optional<InstallationId> installation,
                              std::span<const rules::EngagementEvent> events) {
    static constexpr OrgSql kInsert{
        "engagement_events.insert",
        "INSERT INTO engagement_events (organization_id, id, member_id, installation_id, type, "
        "action, tags, metadata, client_event_id, occurred_at, received_at, geo_country, "
        "geo_region, anonymous_id) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}"};
    while (!events.empty()) {
        const auto piece = events.first(piece_of(events.size()));
        events = events.subspan(piece.size());
        std::vector<Param> params;
        std::vector<std::string> tags;
        std::vector<std::optional<std::string>> metadata;
        params.reserve(piece.size() * 13);
        tags.reserve(piece.size());
        metadata.reserve(piece.size());
        for (const rules::EngagementEvent& event : piece) {
            params.insert(params.end(),
                          {event.id, event.member_id, installation, event.type, event.action,
                           tags.emplace_back(json_of(event.tags)),
                           metadata.emplace_back(text_of(event.metadata)), event.client_event_id,
                           event.occurred_at, event.received_at, event.geo_country,
                           event.geo_region, event.anonymous_id});
        }
        org.execute_bulk(kInsert, piece.size(), params);
    }
}

std::vector<rules::EngagementEvent> page_engagement_events(db::OrgStore& org, MemberId member,
                                                           const std::optional<EventPlace>& after,
                                                           int limit) {
    // Both halves are ranges of the one index, read backwards: however many events share a moment,
    // none before the place is looked at.
    static constexpr OrgSql kPage{
        "engagement_events.page",
        "SELECT id, type, action, tags, metadata, client_event_id, occurred_at, received_at, "
        "geo_country, geo_region FROM engagement_events FORCE INDEX (member_events) "
        "WHERE organization_id = :org AND member_id = ? "
        "AND ((occurred_at = ? AND id < ?) OR occurred_at < ?) "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?"};
    const Timestamp end(std::numeric_limits<std::int64_t>::max());
    const EventPlace place = after.value_or(EventPlace{end, EventId()});
    std::vector<rules::EngagementEvent> events;
    for (auto rows =
             org.query(kPage, member, place.occurred_at, place.id, place.occurred_at, limit);
         rows.next();) {
        events.push_back(event_of(rows));
    }
    return events;
}

}  // namespace muster::store
