#include "store/webhooks/queue.hpp"

namespace muster::store {

using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

// When the first delivery to endpoint `e` is due: one look at the index. Grouping the deliveries
// would be the same work only as long as the optimizer's statistics are fresh, and a queue's never
// are: it would read all that waits. MySQL would sort that, too, were it not ordered by the index's
// columns.
#define FIRST_DUE                                                           \
    "(SELECT d.due_at FROM webhook_deliveries d FORCE INDEX (queue) "       \
    "WHERE d.status = 'pending' AND d.organization_id = e.organization_id " \
    "AND d.endpoint_id = e.id ORDER BY d.organization_id, d.endpoint_id, "  \
    "d.due_at LIMIT 1) AS due "

// Both lists of a statement over deliveries: their ids, behind what comes before.
std::vector<Param> with_ids(std::initializer_list<Param> before,
                            std::span<const DeliveryId> deliveries) {
    std::vector<Param> params(before);
    params.insert(params.end(), deliveries.begin(), deliveries.end());
    return params;
}

}  // namespace

// ---------------------------------------------------------------------------- who is due

std::vector<DueEndpoint> find_due_endpoints(db::Tx& tx, bool failing, Timestamp now, int limit) {
    static constexpr SystemSql kFind{
        "webhook_queue.find_due_endpoints",
        Why{"the runner serves all tenants; each row names its own"},
        "SELECT organization_id, id, ROW_NUMBER() OVER (PARTITION BY organization_id "
        "ORDER BY due) AS place FROM (SELECT e.organization_id, e.id, " FIRST_DUE
        "FROM webhook_endpoints e WHERE e.status <> 'paused' "
        "AND (e.failing_since IS NOT NULL) = ?) AS first WHERE due <= ? "
        "ORDER BY place, due LIMIT ?"};
    std::vector<DueEndpoint> due;
    for (auto rows = tx.query(kFind, failing ? 1 : 0, now, limit); rows.next();) {
        due.push_back({rows.id<OrgId>(1), rows.id<EndpointId>(2)});
    }
    return due;
}

std::optional<Target> find_target(db::OrgStore& org, EndpointId endpoint) {
    static constexpr OrgSql kFind{
        "webhook_queue.find_target",
        "SELECT e.installation_id, e.url, e.status = 'paused', "
        "e.status = 'disabled' OR i.status = 'disabled', e.secret, e.previous_secret, "
        "e.previous_secret_until, e.failing_since FROM webhook_endpoints e "
        "JOIN module_installations i ON i.organization_id = :org AND i.id = e.installation_id "
        "WHERE e.organization_id = :org AND e.id = ?"};
    auto rows = org.query(kFind, endpoint);
    if (!rows.next()) return std::nullopt;
    Target target;
    target.installation = rows.id<InstallationId>(1);
    target.url = rows.bytes(2);
    target.is_paused = rows.integer(3) != 0;
    target.is_disabled = rows.integer(4) != 0;
    target.secret = rows.bytes(5);
    target.previous_secret = rows.text_or_empty(6);
    target.previous_secret_until = rows.optional_timestamp(7);
    target.failing_since = rows.optional_timestamp(8);
    return target;
}

// ---------------------------------------------------------------------------- leases

namespace {

// The bodies, by event.
std::map<WebhookEventId, std::string> read_bodies(db::OrgStore& org,
                                                  std::span<const ClaimedDelivery> deliveries) {
    static constexpr OrgSql kRead{
        "webhook_queue.read_bodies",
        "SELECT id, body FROM webhook_events WHERE organization_id = :org AND id IN ({?})"};
    std::vector<Param> params;
    for (const ClaimedDelivery& delivery : deliveries) params.emplace_back(delivery.event);
    std::map<WebhookEventId, std::string> bodies;
    for (auto rows = org.query_bulk(kRead, params.size(), params); rows.next();) {
        bodies.emplace(rows.id<WebhookEventId>(1), rows.bytes(2));
    }
    return bodies;
}

}  // namespace

std::vector<ClaimedDelivery> claim_deliveries(db::OrgStore& org, EndpointId endpoint,
                                              const Uuid& owner, Timestamp now, Timestamp until,
                                              int limit) {
    // The hint: the optimizer likes the primary key, and would read all that the tenant has.
    static constexpr OrgSql kLock{
        "webhook_queue.lock_due",
        "SELECT id, event_id, step FROM webhook_deliveries FORCE INDEX (queue) "
        "WHERE status = 'pending' AND organization_id = :org AND endpoint_id = ? AND due_at <= ? "
        "ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED"};
    static constexpr OrgSql kClaim{"webhook_queue.claim",
                                   "UPDATE webhook_deliveries SET due_at = ?, lease_owner = ? "
                                   "WHERE organization_id = :org AND id IN ({?})"};
    std::vector<ClaimedDelivery> claimed;
    std::vector<DeliveryId> ids;
    for (auto rows = org.query(kLock, endpoint, now, limit); rows.next();) {
        ids.push_back(rows.id<DeliveryId>(1));
        claimed.push_back(
            {ids.back(), rows.id<WebhookEventId>(2), static_cast<int>(rows.integer(3)), ""});
    }
    if (claimed.empty()) return claimed;
    org.execute_bulk(kClaim, ids.size(), with_ids({until, owner}, ids));
    const auto bodies = read_bodies(org, claimed);
    for (ClaimedDelivery& delivery : claimed) delivery.body = bodies.at(delivery.event);
    return claimed;
}

std::vector<DeliveryId> lock_claimed(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                     const Uuid& owner) {
    static constexpr OrgSql kLock{
        "webhook_queue.lock_claimed",
        "SELECT id FROM webhook_deliveries WHERE lease_owner = ? AND status = 'pending' "
        "AND organization_id = :org AND id IN ({?}) ORDER BY id FOR UPDATE SKIP LOCKED"};
    std::vector<DeliveryId> locked;
    for (auto rows = org.query_bulk(kLock, deliveries.size(), with_ids({owner}, deliveries));
         rows.next();) {
        locked.push_back(rows.id<DeliveryId>(1));
    }
    return locked;
}

std::int64_t give_back(db::OrgStore& org, std::span<const DeliveryId> deliveries, const Uuid& owner,
                       Timestamp when) {
    static constexpr OrgSql kGive{
        "webhook_queue.give_back",
        "UPDATE webhook_deliveries SET due_at = ?, lease_owner = NULL WHERE lease_owner = ? "
        "AND status = 'pending' AND organization_id = :org AND id IN ({?})"};
    if (deliveries.empty()) return 0;
    return org.execute_bulk(kGive, deliveries.size(), with_ids({when, owner}, deliveries));
}

// ---------------------------------------------------------------------------- what became of them

void insert_attempts(db::OrgStore& org, std::span<const NewAttempt> attempts) {
    static constexpr OrgSql kInsert{
        "webhook_queue.insert_attempts",
        "INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, status_code, "
        "duration_ms, excerpt, created_at) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?)}"};
    std::vector<AttemptId> ids(attempts.size());
    std::vector<Param> params;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        const NewAttempt& attempt = attempts[i];
        ids[i] = AttemptId::create();
        params.insert(params.end(),
                      {ids[i], attempt.delivery, attempt.outcome, attempt.status_code,
                       attempt.duration_ms, Param::text_or_null(attempt.excerpt), attempt.at});
    }
    if (!attempts.empty()) org.execute_bulk(kInsert, attempts.size(), params);
}

void add_attempt_totals(db::Tx& tx, std::span<const AttemptCount> counts) {
    static constexpr SystemSql kAdd{
        "webhook_queue.add_totals", Why{"a figure of the installation: no tenant's data in it"},
        "INSERT INTO webhook_attempt_totals (class, attempts) VALUES {(?, ?)} "
        "ON DUPLICATE KEY UPDATE attempts = attempts + VALUES(attempts)"};
    std::vector<Param> params;
    for (const AttemptCount& count : counts) {
        params.insert(params.end(), {count.attempt_class, count.attempts});
    }
    if (!counts.empty()) tx.execute_bulk(kAdd, counts.size(), params);
}

std::vector<AttemptCount> list_attempt_totals(db::Tx& tx) {
    static constexpr SystemSql kList{
        "webhook_queue.list_totals", Why{"a figure of the installation: no tenant's data in it"},
        "SELECT class, attempts FROM webhook_attempt_totals ORDER BY class"};
    std::vector<AttemptCount> counts;
    for (auto rows = tx.query(kList); rows.next();) {
        counts.push_back({rows.bytes(1), rows.integer(2)});
    }
    return counts;
}

void set_succeeded(db::OrgStore& org, std::span<const DeliveryId> deliveries, Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_succeeded",
        "UPDATE webhook_deliveries SET status = 'succeeded', step = step + 1, due_at = NULL, "
        "lease_owner = NULL, updated_at = ? WHERE organization_id = :org AND id IN ({?})"};
    if (!deliveries.empty()) {
        org.execute_bulk(kSet, deliveries.size(), with_ids({now}, deliveries));
    }
}

void set_attempted(db::OrgStore& org, DeliveryId delivery, std::optional<Timestamp> due_at,
                   Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_attempted",
        "UPDATE webhook_deliveries SET status = ?, step = step + 1, due_at = ?, "
        "lease_owner = NULL, updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, due_at ? "pending" : "failed", due_at, now, delivery);
}

// ---------------------------------------------------------------------------- endpoints

std::map<EndpointId, Timestamp> find_failing(db::OrgStore& org,
                                             std::span<const EndpointId> endpoints) {
    static constexpr OrgSql kFind{
        "webhook_queue.find_failing",
        "SELECT id, failing_since FROM webhook_endpoints WHERE failing_since IS NOT NULL "
        "AND organization_id = :org AND id IN ({?})"};
    std::map<EndpointId, Timestamp> failing;
    const std::vector<Param> params(endpoints.begin(), endpoints.end());
    for (auto rows = org.query_bulk(kFind, params.size(), params); rows.next();) {
        failing.emplace(rows.id<EndpointId>(1), rows.timestamp(2));
    }
    return failing;
}

std::vector<EndpointId> lock_endpoints(db::OrgStore& org, std::span<const EndpointId> endpoints) {
    static constexpr OrgSql kLock{
        "webhook_queue.lock_endpoints",
        "SELECT id FROM webhook_endpoints WHERE organization_id = :org AND id IN ({?}) "
        "ORDER BY id FOR UPDATE SKIP LOCKED"};
    std::vector<EndpointId> locked;
    const std::vector<Param> params(endpoints.begin(), endpoints.end());
    for (auto rows = org.query_bulk(kLock, params.size(), params); rows.next();) {
        locked.push_back(rows.id<EndpointId>(1));
    }
    return locked;
}

void clear_failing(db::OrgStore& org, std::span<const EndpointId> endpoints) {
    static constexpr OrgSql kClear{
        "webhook_queue.clear_failing",
        "UPDATE webhook_endpoints SET failing_since = NULL WHERE failing_since IS NOT NULL "
        "AND organization_id = :org AND id IN ({?})"};
    const std::vector<Param> params(endpoints.begin(), endpoints.end());
    if (!endpoints.empty()) org.execute_bulk(kClear, endpoints.size(), params);
}

void set_failing(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_failing",
        "UPDATE webhook_endpoints SET failing_since = ? WHERE failing_since IS NULL "
        "AND organization_id = :org AND id IN ({?})"};
    std::vector<Param> params{now};
    params.insert(params.end(), endpoints.begin(), endpoints.end());
    if (!endpoints.empty()) org.execute_bulk(kSet, endpoints.size(), params);
}

bool disable_endpoint(db::OrgStore& org, EndpointId endpoint, std::string_view reason,
                      std::optional<Timestamp> failing_before, Timestamp now) {
    static constexpr OrgSql kDisable{
        "webhook_queue.disable_endpoint",
        "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = ?, updated_at = ? "
        "WHERE organization_id = :org AND id = ? AND status <> 'disabled' "
        "AND (? IS NULL OR failing_since <= ?)"};
    return org.execute(kDisable, reason, now, endpoint, failing_before, failing_before) == 1;
}

std::int64_t cancel_pending(db::OrgStore& org, EndpointId endpoint, Timestamp now, int limit) {
    static constexpr OrgSql kCancel{
        "webhook_queue.cancel_pending",
        "UPDATE webhook_deliveries FORCE INDEX (queue) SET status = 'canceled', due_at = NULL, "
        "lease_owner = NULL, updated_at = ? WHERE status = 'pending' AND organization_id = :org "
        "AND endpoint_id = ? LIMIT ?"};
    return org.execute(kCancel, now, endpoint, limit);
}

void set_error_without_endpoint(db::OrgStore& org, InstallationId installation, Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_installation_error",
        "UPDATE module_installations SET status = 'error', updated_at = ? "
        "WHERE organization_id = :org AND id = ? AND status = 'enabled' AND NOT EXISTS ("
        "SELECT 1 FROM webhook_endpoints e WHERE e.organization_id = :org "
        "AND e.installation_id = ? AND e.status = 'active')"};
    org.execute(kSet, now, installation, installation);
}

// ---------------------------------------------------------------------------- figures

WebhookBacklog measure_webhook_backlog(db::Tx& tx) {
    static constexpr SystemSql kCount{
        "webhook_queue.count_pending", Why{"a figure of the installation: no tenant's data in it"},
        "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries WHERE status = 'pending' "
        "LIMIT ?) AS counted"};
    static constexpr SystemSql kOldest{
        "webhook_queue.find_oldest", Why{"a figure of the installation: no tenant's data in it"},
        "SELECT MIN(due), MIN(IF(failing_since IS NULL, due, NULL)) FROM "
        "(SELECT e.failing_since, " FIRST_DUE
        "FROM webhook_endpoints e WHERE e.status = 'active') AS first"};
    WebhookBacklog backlog;
    auto counted = tx.query(kCount, kMostCounted);
    counted.next();
    backlog.pending = counted.integer(1);
    auto oldest = tx.query(kOldest);
    oldest.next();
    backlog.oldest = oldest.optional_timestamp(1);
    backlog.oldest_of_healthy = oldest.optional_timestamp(2);
    return backlog;
}

}  // namespace muster::store
