#include "store/engagement_events.hpp"

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

template <class Value>
std::vector<LinkedMember> hold(db::OrgStore& org, const OrgSql& sql,
                               std::span<const Value> values) {
    std::vector<LinkedMember> found;
    if (values.empty()) return found;
    const std::vector<Param> params(values.begin(), values.end());
    for (db::Rows rows = org.query_bulk(sql, values.size(), params); rows.next();) {
        LinkedMember& member = found.emplace_back();
        member.user = rows.id<UserId>(1);
        member.member = rows.id<MemberId>(2);
        if (!rows.is_null(3)) member.external_id = rows.bytes(3);
    }
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

std::vector<LinkedMember> hold_members_by_user(db::OrgStore& org, std::span<const UserId> users) {
    static constexpr OrgSql kHold{"engagement_events.hold_by_user",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND user_id IN ({?}) "
                                  "LOCK IN SHARE MODE"};
    return hold(org, kHold, users);
}

std::vector<LinkedMember> hold_members_by_id(db::OrgStore& org, std::span<const MemberId> members) {
    static constexpr OrgSql kHold{"engagement_events.hold_by_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND id IN ({?}) "
                                  "LOCK IN SHARE MODE"};
    return hold(org, kHold, members);
}

std::vector<LinkedMember> hold_members_by_external_id(db::OrgStore& org,
                                                      std::span<const std::string> external_ids) {
    static constexpr OrgSql kHold{"engagement_events.hold_by_external_id",
                                  "SELECT user_id, id, external_id FROM members "
                                  "WHERE organization_id = :org AND external_id IN ({?}) "
                                  "LOCK IN SHARE MODE"};
    return hold(org, kHold, external_ids);
}

std::vector<std::string> find_client_events(db::OrgStore& org, std::span<const std::string> ids) {
    static constexpr OrgSql kFind{"engagement_events.find_client_events",
                                  "SELECT client_event_id FROM engagement_events "
                                  "WHERE organization_id = :org AND client_event_id IN ({?})"};
    std::vector<std::string> found;
    if (ids.empty()) return found;
    const std::vector<Param> params(ids.begin(), ids.end());
    for (auto rows = org.query_bulk(kFind, ids.size(), params); rows.next();) {
        found.push_back(rows.bytes(1));
    }
    return found;
}

void insert_engagement_events(db::OrgStore& org, InstallationId installation,
                              std::span<const rules::EngagementEvent> events) {
    static constexpr OrgSql kInsert{
        "engagement_events.insert",
        "INSERT INTO engagement_events (organization_id, id, member_id, installation_id, type, "
        "action, tags, metadata, client_event_id, occurred_at, received_at) "
        "VALUES {(:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}"};
    std::vector<Param> params;
    std::vector<std::string> tags;
    std::vector<std::optional<std::string>> metadata;
    params.reserve(events.size() * 10);
    tags.reserve(events.size());
    metadata.reserve(events.size());
    for (const rules::EngagementEvent& event : events) {
        params.insert(params.end(), {event.id, event.member_id, installation, event.type,
                                     event.action, tags.emplace_back(json_of(event.tags)),
                                     metadata.emplace_back(text_of(event.metadata)),
                                     event.client_event_id, event.occurred_at, event.received_at});
    }
    if (!events.empty()) org.execute_bulk(kInsert, events.size(), params);
}

}  // namespace muster::store
