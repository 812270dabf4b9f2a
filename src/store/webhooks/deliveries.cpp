#include "store/webhooks/deliveries.hpp"

#include "rules/webhook_wire.hpp"

#include <stdexcept>
#include <unordered_map>

namespace muster::store {

using db::OrgSql;
using db::Param;

namespace {

#define DELIVERY_COLUMNS "d.id, d.event_id, v.type, d.status, d.due_at, d.created_at"
#define WITH_EVENTS " JOIN webhook_events v ON v.organization_id = :org AND v.id = d.event_id "

rules::WebhookDelivery delivery_of(const db::Rows& rows) {
    rules::WebhookDelivery delivery;
    delivery.id = rows.id<DeliveryId>(1);
    delivery.webhook_id = rules::webhook_id(rows.id<WebhookEventId>(2));
    delivery.event_type = rows.bytes(3);
    const auto status = rules::delivery_status_of(rows.bytes(4));
    if (!status) throw std::runtime_error("a delivery's status is none of ours");
    delivery.status = *status;
    delivery.next_attempt_at = rows.optional_timestamp(5);
    delivery.created_at = rows.timestamp(6);
    return delivery;
}

}  // namespace

std::vector<rules::WebhookDelivery> page_deliveries(db::OrgStore& org, EndpointId endpoint,
                                                    std::optional<DeliveryId> before,
                                                    const DeliveryFilter& filter, int limit) {
    // Ids are UUIDv7: their order is the order of the events. Without the hint the optimizer may
    // sort all that a status has.
    static constexpr OrgSql kPage{"webhook_deliveries.page",
                                  "SELECT " DELIVERY_COLUMNS
                                  " FROM webhook_deliveries d FORCE INDEX (endpoint)" WITH_EVENTS
                                  "WHERE d.organization_id = :org AND d.endpoint_id = ? "
                                  "AND d.id < ? AND (? IS NULL OR d.status = ?) "
                                  "AND (? IS NULL OR v.type = ?) ORDER BY d.id DESC LIMIT ?"};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    std::vector<rules::WebhookDelivery> list;
    for (auto rows = org.query(kPage, endpoint, bound, filter.status, filter.status,
                               filter.event_type, filter.event_type, limit);
         rows.next();) {
        list.push_back(delivery_of(rows));
    }
    return list;
}

std::optional<rules::WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                                    DeliveryId id) {
    static constexpr OrgSql kFind{
        "webhook_deliveries.find",
        "SELECT " DELIVERY_COLUMNS " FROM webhook_deliveries d" WITH_EVENTS
        "WHERE d.organization_id = :org AND d.id = ? AND d.endpoint_id = ?"};
    auto rows = org.query(kFind, id, endpoint);
    if (!rows.next()) return std::nullopt;
    return delivery_of(rows);
}

void read_attempts(db::OrgStore& org, std::vector<rules::WebhookDelivery>& deliveries) {
    // The places are counted in the index alone, before any excerpt is read.
    static constexpr OrgSql kRead{
        "webhook_deliveries.read_attempts",
        "SELECT a.delivery_id, a.created_at, a.status_code, a.class, a.duration_ms, a.excerpt "
        "FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place "
        "FROM webhook_attempts WHERE organization_id = :org AND delivery_id IN ({?})) AS newest "
        "JOIN webhook_attempts a ON a.organization_id = :org AND a.id = newest.id "
        "WHERE newest.place <= ? ORDER BY a.delivery_id, a.id"};
    if (deliveries.empty()) return;
    std::vector<Param> ids;
    std::unordered_map<DeliveryId, rules::WebhookDelivery*> by_id;
    for (rules::WebhookDelivery& delivery : deliveries) {
        ids.emplace_back(delivery.id);
        by_id[delivery.id] = &delivery;
    }
    const std::size_t count = ids.size();
    ids.emplace_back(kMostAttemptsShown);
    for (auto rows = org.query_bulk(kRead, count, ids); rows.next();) {
        rules::WebhookAttempt attempt;
        attempt.at = rows.timestamp(2);
        attempt.status_code = rows.optional_integer(3);
        attempt.attempt_class = rows.bytes(4);
        attempt.duration_ms = rows.integer(5);
        if (!rows.is_null(6)) attempt.response_excerpt = rows.bytes(6);
        by_id.at(rows.id<DeliveryId>(1))->attempts.push_back(std::move(attempt));
    }
}

void requeue_delivery(db::OrgStore& org, EndpointId endpoint, DeliveryId id, Timestamp now) {
    static constexpr OrgSql kRequeue{
        "webhook_deliveries.requeue",
        "UPDATE webhook_deliveries SET status = 'pending', step = 0, due_at = ?, "
        "lease_owner = NULL, updated_at = ? WHERE organization_id = :org AND id = ? "
        "AND endpoint_id = ? AND (status <> 'pending' OR lease_owner IS NULL)"};
    org.execute(kRequeue, now, now, id, endpoint);
}

std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint, Timestamp since,
                                Timestamp now) {
    // By this index only what is to be moved is locked, and not the endpoint's new deliveries.
    static constexpr OrgSql kRecover{
        "webhook_deliveries.recover",
        "UPDATE webhook_deliveries FORCE INDEX (queue) SET status = 'pending', step = 0, "
        "due_at = ?, lease_owner = NULL, updated_at = ? WHERE status IN ('failed', 'canceled') "
        "AND organization_id = :org AND endpoint_id = ? AND created_at >= ?"};
    return org.execute(kRecover, now, now, endpoint, since);
}

}  // namespace muster::store
