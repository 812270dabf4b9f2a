#include "store/webhooks/endpoints.hpp"

#include "rules/webhook_wire.hpp"
#include "store/webhooks/endpoint_results.hpp"
#include "store/words.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::OrgSql;
using rules::EndpointHealth;
using rules::WebhookEndpoint;

namespace {

constexpr auto kEndpoint = columns<WebhookEndpoint>(
    column<&WebhookEndpoint::id>("e.id"),
    column<&WebhookEndpoint::module_installation_id>("e.installation_id"),
    column<&WebhookEndpoint::organization_id>("e.organization_id"),
    column<&WebhookEndpoint::url>("e.url"), column<&WebhookEndpoint::description>("e.description"),
    converted<words_of, &WebhookEndpoint::subscribed_event_types>("e.event_types"),
    column<&WebhookEndpoint::status>("e.status"),
    column<&WebhookEndpoint::disabled_reason>("e.disabled_reason"),
    column<&WebhookEndpoint::failing_since>("e.failing_since"),
    column<&WebhookEndpoint::backlog_dropped_at>("e.backlog_dropped_at"),
    column<&WebhookEndpoint::created_at>("e.created_at"),
    column<&WebhookEndpoint::updated_at>("e.updated_at"));
constexpr auto kHealth = columns<EndpointHealth>(
    nested<&EndpointHealth::endpoint>(kEndpoint),
    column<&EndpointHealth::pending>(
        "(SELECT COUNT(*) FROM webhook_deliveries d FORCE INDEX (queue) WHERE d.status = 'pending' "
        "AND d.organization_id = :org AND d.endpoint_id = e.id)"),
    column<&EndpointHealth::failed>(
        "(SELECT COUNT(*) FROM webhook_deliveries d FORCE INDEX (queue) WHERE d.status = 'failed' "
        "AND d.organization_id = :org AND d.endpoint_id = e.id)"));

constexpr auto kRemoved = columns<RemovedEndpoint>(
    column<&RemovedEndpoint::organization>("organization_id"), column<&RemovedEndpoint::id>("id"));

}  // namespace

void insert_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint,
                             std::string_view sealed_secret, std::optional<AdminId> created_by) {
    static constexpr OrgSql kInsert{
        "webhook_endpoints.insert",
        "INSERT INTO webhook_endpoints (organization_id, id, installation_id, url, description, "
        "event_types, status, secret, created_by, created_at, updated_at) "
        "VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, endpoint.id, endpoint.module_installation_id, endpoint.url,
                endpoint.description, rules::joined_types(endpoint.subscribed_event_types),
                text_of(endpoint.status), sealed_secret, created_by, endpoint.created_at,
                endpoint.updated_at);
}

std::int64_t count_webhook_endpoints(db::OrgStore& org, InstallationId installation) {
    static constexpr OrgSql kCount{
        "webhook_endpoints.count",
        "SELECT COUNT(*) FROM webhook_endpoints FORCE INDEX (installation) "
        "WHERE organization_id = :org AND installation_id = ? AND removed_at IS NULL"};
    return org.value<std::int64_t>(kCount, installation);
}

std::int64_t count_webhook_endpoints(db::OrgStore& org) {
    static constexpr OrgSql kCount{
        "webhook_endpoints.count_all",
        "SELECT COUNT(*) FROM webhook_endpoints WHERE organization_id = :org "
        "AND removed_at IS NULL"};
    return org.value<std::int64_t>(kCount);
}

std::optional<WebhookEndpoint> find_webhook_endpoint(db::OrgStore& org, InstallationId installation,
                                                     EndpointId id) {
    static constexpr OrgSql kFind{
        "webhook_endpoints.find", kEndpoint,
        "SELECT {columns} FROM webhook_endpoints e "
        "WHERE e.organization_id = :org AND e.id = ? AND e.installation_id = ? "
        "AND e.removed_at IS NULL"};
    return org.one(kFind, id, installation);
}

std::optional<WebhookEndpoint> lock_webhook_endpoint(db::OrgStore& org, InstallationId installation,
                                                     EndpointId id) {
    static constexpr OrgSql kLock{
        "webhook_endpoints.lock", kEndpoint,
        "SELECT {columns} FROM webhook_endpoints e "
        "WHERE e.organization_id = :org AND e.id = ? AND e.installation_id = ? "
        "AND e.removed_at IS NULL FOR UPDATE"};
    return org.one(kLock, id, installation);
}

std::vector<WebhookEndpoint> page_webhook_endpoints(db::OrgStore& org, InstallationId installation,
                                                    EndpointId after, int limit) {
    static constexpr OrgSql kPage{
        "webhook_endpoints.page", kEndpoint,
        "SELECT {columns} FROM webhook_endpoints e FORCE INDEX (installation) "
        "WHERE e.organization_id = :org AND e.installation_id = ? AND e.id > ? "
        "AND e.removed_at IS NULL ORDER BY e.id LIMIT ?"};
    return org.all(kPage, installation, after, limit);
}

void write_webhook_endpoint(db::OrgStore& org, const rules::WebhookEndpoint& endpoint) {
    static constexpr OrgSql kWrite{
        "webhook_endpoints.write",
        "UPDATE webhook_endpoints SET url = ?, description = ?, event_types = ?, status = ?, disabled_reason = ?, "
        "failing_since = ?, updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kWrite, endpoint.url, endpoint.description,
                rules::joined_types(endpoint.subscribed_event_types), text_of(endpoint.status),
                endpoint.disabled_reason, endpoint.failing_since, endpoint.updated_at, endpoint.id);
}

bool rotate_webhook_secret(db::OrgStore& org, EndpointId id, std::string_view sealed_secret,
                           Timestamp previous_until, Timestamp now) {
    // Assignments run from left to right: each one reads the values before its own column changes.
    static constexpr OrgSql kRotate{
        "webhook_endpoints.rotate_secret",
        "UPDATE webhook_endpoints SET "
        "older_secret = IF(previous_secret_until > ?, previous_secret, NULL), "
        "older_secret_until = IF(previous_secret_until > ?, previous_secret_until, NULL), "
        "previous_secret = secret, previous_secret_until = ?, secret = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ? "
        "AND (older_secret_until IS NULL OR older_secret_until <= ?)"};
    return org.execute(kRotate, now, now, previous_until, sealed_secret, now, id, now) > 0;
}

void remove_webhook_endpoint(db::OrgStore& org, EndpointId id, Timestamp now) {
    static constexpr OrgSql kRemove{
        "webhook_endpoints.remove",
        "UPDATE webhook_endpoints SET status = 'disabled', removed_at = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ?"};
    org.execute(kRemove, now, now, id);
}

std::int64_t delete_removed_endpoint(db::OrgStore& org, EndpointId id, int limit) {
    static constexpr OrgSql kDeliveries{
        "webhook_endpoints.delete_deliveries",
        "DELETE FROM webhook_deliveries WHERE organization_id = :org AND endpoint_id = ? "
        "ORDER BY organization_id, endpoint_id, id LIMIT ?"};
    static constexpr OrgSql kEndpoint{
        "webhook_endpoints.delete",
        "DELETE FROM webhook_endpoints WHERE organization_id = :org AND id = ? "
        "AND removed_at IS NOT NULL"};
    const std::int64_t deliveries = org.execute(kDeliveries, id, limit);
    if (deliveries == limit) return deliveries;
    delete_endpoint_results(org, id);
    return deliveries + org.execute(kEndpoint, id);
}

std::vector<RemovedEndpoint> find_removed_endpoints(db::Tx& tx, Timestamp until, int limit) {
    static constexpr db::SystemSql kFind{
        "webhook_endpoints.find_removed",
        db::Why{"the purge serves all tenants; each row names its tenant"}, kRemoved,
        "SELECT {columns} FROM webhook_endpoints FORCE INDEX (removed_at) "
        "WHERE removed_at <= ? ORDER BY removed_at LIMIT ?"};
    return tx.all(kFind, until, limit);
}

std::vector<EndpointHealth> list_endpoint_health(db::OrgStore& org) {
    static constexpr OrgSql kList{"webhook_endpoints.list_health", kHealth,
                                  "SELECT {columns} FROM webhook_endpoints e FORCE INDEX (PRIMARY) "
                                  "WHERE e.organization_id = :org AND e.removed_at IS NULL "
                                  "ORDER BY e.id"};
    return org.all(kList);
}

std::optional<InstallationId> find_installation_of_endpoint(db::OrgStore& org, EndpointId id) {
    static constexpr OrgSql kFind{"webhook_endpoints.find_installation",
                                  "SELECT installation_id FROM webhook_endpoints "
                                  "WHERE organization_id = :org AND id = ? AND removed_at IS NULL"};
    return org.one<InstallationId>(kFind, id);
}

}  // namespace muster::store
