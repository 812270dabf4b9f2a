#include "store/webhooks/fan_out.hpp"

#include "store/batches.hpp"
#include "store/webhooks/queue.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kOutboxEvent = columns<OutboxEvent>(column<&OutboxEvent::id>("event_id"),
                                                   column<&OutboxEvent::type>("event_type"),
                                                   column<&OutboxEvent::created_at>("created_at"));
constexpr auto kPending = db::row<EndpointId, std::int64_t>("endpoint_id", "COUNT(*)");
constexpr auto kOutbox = columns<OutboxBacklog>(column<&OutboxBacklog::events>("COUNT(*)"),
                                                column<&OutboxBacklog::oldest>("MIN(created_at)"));

}  // namespace

std::optional<OrgId> next_in_outbox(db::Tx& tx, OrgId after) {
    static constexpr SystemSql kNext{
        "webhook_fan_out.next_organization",
        Why{"the runner serves all tenants; each row names its tenant"},
        "SELECT organization_id FROM webhook_outbox FORCE INDEX (PRIMARY) "
        "WHERE organization_id > ? ORDER BY organization_id, event_id LIMIT 1"};
    return tx.one<OrgId>(kNext, after);
}

std::vector<OutboxEvent> lock_outbox(db::OrgStore& org, int limit) {
    static constexpr OrgSql kLock{"webhook_fan_out.lock_outbox", kOutboxEvent,
                                  "SELECT {columns} FROM webhook_outbox FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org ORDER BY event_id LIMIT ? "
                                  "FOR UPDATE SKIP LOCKED"};
    return org.all(kLock, limit);
}

void delete_outbox(db::OrgStore& org, std::span<const WebhookEventId> events) {
    static constexpr OrgSql kDelete{
        "webhook_fan_out.delete_outbox",
        "DELETE FROM webhook_outbox WHERE organization_id = :org AND event_id IN ({?})"};
    in_batches(events, [&](const std::vector<Param>& params) {
        org.execute_bulk(kDelete, params.size(), params);
    });
}

std::map<EndpointId, std::int64_t> count_pending(db::OrgStore& org) {
    static constexpr OrgSql kCount{
        "webhook_fan_out.count_pending", kPending,
        "SELECT {columns} FROM webhook_deliveries FORCE INDEX (queue) "
        "WHERE status = 'pending' AND organization_id = :org GROUP BY endpoint_id"};
    std::map<EndpointId, std::int64_t> pending;
    for (const auto& [endpoint, count] : org.each(kCount)) pending.emplace(endpoint, count);
    return pending;
}

void set_dropped(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp since,
                 Timestamp now) {
    static constexpr OrgSql kLock{
        "webhook_fan_out.lock_dropping",
        "SELECT id FROM webhook_endpoints FORCE INDEX (PRIMARY) "
        "WHERE (backlog_dropped_at IS NULL OR backlog_dropped_at < ?) AND organization_id = :org "
        "AND id IN ({?}) ORDER BY id FOR UPDATE SKIP LOCKED"};
    static constexpr OrgSql kSet{
        "webhook_fan_out.set_dropped",
        "UPDATE webhook_endpoints FORCE INDEX (PRIMARY) SET backlog_dropped_at = ? "
        "WHERE organization_id = :org AND id IN ({?})"};
    in_batches(endpoints, [&](std::vector<Param> params) {
        params.insert(params.begin(), since);
        const auto locked = org.all_bulk<EndpointId>(kLock, params.size() - 1, params);
        if (locked.empty()) return;
        std::vector<Param> changed{now};
        changed.insert(changed.end(), locked.begin(), locked.end());
        org.execute_bulk(kSet, locked.size(), changed);
    });
}

OutboxBacklog measure_outbox(db::Tx& tx) {
    static constexpr SystemSql kMeasure{
        "webhook_fan_out.measure_outbox", Why{"a metric of the installation without tenant data"},
        kOutbox,
        "SELECT {columns} FROM (SELECT created_at FROM webhook_outbox FORCE INDEX (PRIMARY) "
        "LIMIT ?) AS counted"};
    return tx.value(kMeasure, kMostCounted);
}

std::int64_t count_dropping(db::Tx& tx, Timestamp since) {
    static constexpr SystemSql kCount{
        "webhook_fan_out.count_dropping", Why{"a check of the installation without tenant data"},
        "SELECT COUNT(*) FROM webhook_endpoints FORCE INDEX (PRIMARY) "
        "WHERE backlog_dropped_at >= ?"};
    return tx.value<std::int64_t>(kCount, since);
}

}  // namespace muster::store
