#include "store/webhooks/endpoints.hpp"

#include "base/text.hpp"
#include "rules/webhook_wire.hpp"

#include <stdexcept>

namespace muster::store {

using db::OrgSql;

namespace {

#define ENDPOINT_COLUMNS                                                           \
    "e.id, e.installation_id, e.organization_id, e.url, e.event_types, e.status, " \
    "e.disabled_reason, e.failing_since, e.created_at, e.updated_at"

rules::WebhookEndpoint endpoint_of(const db::Rows& rows) {
    rules::WebhookEndpoint endpoint;
    endpoint.id = rows.id<EndpointId>(1);
    endpoint.module_installation_id = rows.id<InstallationId>(2);
    endpoint.organization_id = rows.id<OrgId>(3);
    endpoint.url = rows.bytes(4);
    const std::string types = rows.bytes(5);
    for (const std::string_view type : split(types, ' ')) {
        endpoint.subscribed_event_types.emplace_back(type);
    }
    const auto status = rules::endpoint_status_of(rows.bytes(6));
    if (!status) throw std::runtime_error("an endpoint's status is none of ours");
    endpoint.status = *status;
    if (!rows.is_null(7)) endpoint.disabled_reason = rows.bytes(7);
    endpoint.failing_since = rows.optional_timestamp(8);
    endpoint.created_at = rows.timestamp(9);
    endpoint.updated_at = rows.timestamp(10);
    return endpoint;
}

std::optional<rules::WebhookEndpoint> one_of(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return endpoint_of(rows);
}

}  // namespace

void insert_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint,
                             std::string_view sealed_secret, std::optional<AdminId> created_by) {
    static constexpr OrgSql kInsert{
        "webhook_endpoints.insert",
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, event_types, "
        "status, secret, created_by, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, endpoint.id, endpoint.module_installation_id, endpoint.url,
                rules::joined_types(endpoint.subscribed_event_types), text_of(endpoint.status),
                sealed_secret, created_by, endpoint.created_at, endpoint.updated_at);
}

std::int64_t count_webhook_endpoints(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kCount{"webhook_endpoints.count",
                                   "SELECT COUNT(*) FROM webhook_endpoints "
                                   "WHERE organization_id = :org AND installation_id = ?"};
    auto rows = org.query(kCount, installation);
    rows.next();
    return rows.integer(1);
}

std::int64_t count_webhook_endpoints(db::OrgStore& org) {
    static constexpr OrgSql kCount{
        "webhook_endpoints.count_all",
        "SELECT COUNT(*) FROM webhook_endpoints WHERE organization_id = :org"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

std::optional<rules::WebhookEndpoint> find_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id) {
    static constexpr OrgSql kFind{
        "webhook_endpoints.find",
        "SELECT " ENDPOINT_COLUMNS
        " FROM webhook_endpoints e "
        "WHERE e.organization_id = :org AND e.id = ? AND e.installation_id = ?"};
    return one_of(org.query(kFind, id, installation));
}

std::optional<rules::WebhookEndpoint> lock_webhook_endpoint(db::OrgStore& org,
                                                            InstallationId installation,
                                                            EndpointId id) {
    static constexpr OrgSql kLock{
        "webhook_endpoints.lock",
        "SELECT " ENDPOINT_COLUMNS
        " FROM webhook_endpoints e "
        "WHERE e.organization_id = :org AND e.id = ? AND e.installation_id = ? FOR UPDATE"};
    return one_of(org.query(kLock, id, installation));
}

std::vector<rules::WebhookEndpoint> page_webhook_endpoints(db::OrgStore& org,
                                                           InstallationId installation,
                                                           EndpointId after, int limit) {
    static constexpr OrgSql kPage{
        "webhook_endpoints.page",
        "SELECT " ENDPOINT_COLUMNS
        " FROM webhook_endpoints e "
        "WHERE e.organization_id = :org AND e.installation_id = ? AND e.id > ? "
        "ORDER BY e.id LIMIT ?"};
    std::vector<rules::WebhookEndpoint> list;
    for (auto rows = org.query(kPage, installation, after, limit); rows.next();) {
        list.push_back(endpoint_of(rows));
    }
    return list;
}

void write_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint) {
    static constexpr OrgSql kWrite{
        "webhook_endpoints.write",
        "UPDATE webhook_endpoints SET url = ?, event_types = ?, status = ?, disabled_reason = ?, "
        "failing_since = ?, updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kWrite, endpoint.url, rules::joined_types(endpoint.subscribed_event_types),
                text_of(endpoint.status), endpoint.disabled_reason, endpoint.failing_since,
                endpoint.updated_at, endpoint.id);
}

void rotate_webhook_secret(db::OrgStore& org, EndpointId id, std::string_view sealed_secret,
                           Timestamp previous_until, Timestamp now) {
    // Assignments run from left to right: the first one still sees the old secret.
    static constexpr OrgSql kRotate{
        "webhook_endpoints.rotate_secret",
        "UPDATE webhook_endpoints SET previous_secret = secret, previous_secret_until = ?, "
        "secret = ?, updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kRotate, previous_until, sealed_secret, now, id);
}

void delete_webhook_endpoint(db::OrgStore& org, EndpointId id) {
    static constexpr OrgSql kDelete{
        "webhook_endpoints.delete",
        "DELETE FROM webhook_endpoints WHERE organization_id = :org AND id = ?"};
    org.execute(kDelete, id);
}

std::vector<EndpointHealth> list_endpoint_health(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "webhook_endpoints.list_health",
        "SELECT " ENDPOINT_COLUMNS
        ", "
        "(SELECT COUNT(*) FROM webhook_deliveries d WHERE d.status = 'pending' "
        "AND d.organization_id = :org AND d.endpoint_id = e.id), "
        "(SELECT COUNT(*) FROM webhook_deliveries d WHERE d.status = 'failed' "
        "AND d.organization_id = :org AND d.endpoint_id = e.id) "
        "FROM webhook_endpoints e WHERE e.organization_id = :org ORDER BY e.id"};
    std::vector<EndpointHealth> list;
    for (auto rows = org.query(kList); rows.next();) {
        list.push_back({endpoint_of(rows), rows.integer(11), rows.integer(12)});
    }
    return list;
}

std::optional<InstallationId> find_installation_of_endpoint(db::OrgStore& org, EndpointId id) {
    static constexpr OrgSql kFind{
        "webhook_endpoints.find_installation",
        "SELECT installation_id FROM webhook_endpoints WHERE organization_id = :org AND id = ?"};
    auto rows = org.query(kFind, id);
    if (!rows.next()) return std::nullopt;
    return rows.id<InstallationId>(1);
}

}  // namespace muster::store
