#include "store/outbox.hpp"

#include "store/batches.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;

bool has_listener(db::OrgStore& org, std::string_view event_type) {
    // Few types have subscriptions, and the server plans the joins of the second statement for each
    // execution.
    static constexpr OrgSql kFindAny{
        "webhook_outbox.has_subscription",
        "SELECT EXISTS (SELECT 1 FROM webhook_subscriptions FORCE INDEX (PRIMARY) "
        "WHERE organization_id = :org AND event_type = ?) "
        "OR EXISTS (SELECT 1 FROM webhook_endpoints FORCE INDEX (indexed_at) "
        "WHERE organization_id = :org AND indexed_at IS NULL)"};
    static constexpr OrgSql kFind{
        "webhook_outbox.has_listener",
        "SELECT EXISTS (SELECT 1 FROM webhook_subscriptions s FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN webhook_endpoints e FORCE INDEX (PRIMARY) "
        "ON e.organization_id = :org AND e.id = s.endpoint_id "
        "STRAIGHT_JOIN module_installations i ON i.organization_id = :org "
        "AND i.id = e.installation_id "
        "WHERE s.organization_id = :org AND s.event_type = ? "
        "AND e.indexed_at IS NOT NULL AND e.status IN ('active', 'paused') "
        "AND i.status IN ('enabled', 'error')) "
        "OR EXISTS (SELECT 1 FROM webhook_endpoints e FORCE INDEX (indexed_at) "
        "STRAIGHT_JOIN module_installations i ON i.organization_id = :org "
        "AND i.id = e.installation_id "
        "WHERE e.organization_id = :org AND e.indexed_at IS NULL "
        "AND LOCATE(CONCAT(' ', ?, ' '), CONCAT(' ', e.event_types, ' ')) > 0 "
        "AND e.status IN ('active', 'paused') AND i.status IN ('enabled', 'error'))"};
    return org.value<bool>(kFindAny, event_type) && org.value<bool>(kFind, event_type, event_type);
}

void insert_webhook_events(db::OrgStore& org, std::span<const NewWebhookEvent> events,
                           Timestamp now) {
    static constexpr OrgSql kInsert{
        "webhook_outbox.insert_events",
        "INSERT INTO webhook_events (organization_id, id, type, body, user_id, created_at) "
        "VALUES {(:org, ?, ?, ?, ?, ?)}"};
    in_pieces(events, [&](std::span<const NewWebhookEvent> piece) {
        std::vector<Param> params;
        params.reserve(piece.size() * 5);
        for (const NewWebhookEvent& event : piece) {
            params.insert(params.end(), {event.id, event.type, event.body, event.about, now});
        }
        org.execute_bulk(kInsert, piece.size(), params);
    });
}

void insert_outbox(db::OrgStore& org, std::span<const NewWebhookEvent> events, Timestamp now) {
    static constexpr OrgSql kInsert{
        "webhook_outbox.insert",
        "INSERT INTO webhook_outbox (organization_id, event_id, event_type, created_at) "
        "VALUES {(:org, ?, ?, ?)}"};
    in_pieces(events, [&](std::span<const NewWebhookEvent> piece) {
        std::vector<Param> params;
        params.reserve(piece.size() * 3);
        for (const NewWebhookEvent& event : piece) {
            params.insert(params.end(), {event.id, event.type, now});
        }
        org.execute_bulk(kInsert, piece.size(), params);
    });
}

void insert_deliveries(db::OrgStore& org, std::span<const NewDelivery> deliveries, Timestamp now) {
    static constexpr OrgSql kInsert{
        "webhook_outbox.insert_deliveries",
        "INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_id, status, "
        "due_at, created_at, updated_at) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?)}"};
    in_pieces(deliveries, [&](std::span<const NewDelivery> piece) {
        std::vector<Param> params;
        params.reserve(piece.size() * 7);
        for (const NewDelivery& delivery : piece) {
            const auto due = delivery.is_canceled ? std::nullopt : std::optional(now);
            params.insert(params.end(), {delivery.id, delivery.endpoint, delivery.event,
                                         delivery.is_canceled ? "canceled" : "pending", due,
                                         delivery.created_at, now});
        }
        org.execute_bulk(kInsert, piece.size(), params);
    });
}

void cancel_deliveries(db::OrgStore& org, InstallationId installation, Timestamp now, int limit) {
    static constexpr OrgSql kCancel{
        "webhook_outbox.cancel_deliveries",
        "UPDATE (SELECT d.id FROM webhook_endpoints e FORCE INDEX (installation) "
        "STRAIGHT_JOIN webhook_deliveries d FORCE INDEX (queue) "
        "ON d.status = 'pending' AND d.organization_id = :org AND d.endpoint_id = e.id "
        "WHERE e.organization_id = :org AND e.installation_id = ? LIMIT ?) AS first "
        "STRAIGHT_JOIN webhook_deliveries d FORCE INDEX (PRIMARY) "
        "ON d.organization_id = :org AND d.id = first.id AND d.status = 'pending' "
        "SET d.status = 'canceled', d.due_at = NULL, d.lease_owner = NULL, d.updated_at = ?"};
    org.execute(kCancel, installation, limit, now);
}

}  // namespace muster::store
