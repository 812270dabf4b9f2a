#include "store/webhooks/queue.hpp"

#include "db/sql_text.hpp"
#include "store/batches.hpp"

#include <algorithm>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::kSqlText;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SqlText;
using db::SystemSql;
using db::Why;

namespace {

// The due time of the first delivery to endpoint `e`: one index look-up. Grouping the deliveries
// would be as fast only with current statistics, which a queue rarely has; otherwise it reads all
// pending deliveries. MySQL needs all columns of the index in ORDER BY, or it sorts them.
constexpr std::string_view kFirstDue =
    "(SELECT d.due_at FROM webhook_deliveries d FORCE INDEX (queue) "
    "WHERE d.status = 'pending' AND d.organization_id = e.organization_id "
    "AND d.endpoint_id = e.id ORDER BY d.organization_id, d.endpoint_id, "
    "d.due_at LIMIT 1) AS due ";

// The organization of endpoint `e` is not disabled.
constexpr std::string_view kOfEnabled =
    "AND (SELECT o.disabled_at FROM organizations o WHERE o.id = e.organization_id) IS NULL";

// The installation of endpoint `e` is disabled: one look-up.
constexpr std::string_view kIsUninstalled =
    "(SELECT i.status FROM module_installations i FORCE INDEX (PRIMARY) "
    "WHERE i.organization_id = e.organization_id AND i.id = e.installation_id) = 'disabled'";

constexpr auto kDue =
    columns<DueEndpoint>(column<&DueEndpoint::organization>("organization_id"),
                         column<&DueEndpoint::endpoint>("id"), column<&DueEndpoint::due>("due"));

constexpr auto kTarget = columns<Target>(
    column<&Target::installation>("e.installation_id"), column<&Target::url>("e.url"),
    column<&Target::is_paused>(
        "e.status = 'paused' "
        "OR (SELECT o.disabled_at FROM organizations o WHERE o.id = :org) IS NOT NULL"),
    column<&Target::is_disabled>("e.status = 'disabled' OR i.status = 'disabled'"),
    column<&Target::secret>("e.secret"),
    converted<or_empty<std::string>, &Target::previous_secret>("e.previous_secret"),
    column<&Target::previous_secret_until>("e.previous_secret_until"),
    converted<or_empty<std::string>, &Target::older_secret>("e.older_secret"),
    column<&Target::older_secret_until>("e.older_secret_until"),
    column<&Target::failing_since>("e.failing_since"));

constexpr auto kBody = db::row<WebhookEventId, std::string>("id", "body");
// The size is a subquery and not a join: FOR UPDATE does not lock the rows of a subquery. But it
// reads from a view that is taken when the statement begins: an event committed since has no size.
constexpr auto kClaimed = columns<ClaimedDelivery>(
    column<&ClaimedDelivery::id>("d.id"), column<&ClaimedDelivery::event>("d.event_id"),
    column<&ClaimedDelivery::step>("d.step"),
    column<&ClaimedDelivery::size>(
        "COALESCE((SELECT LENGTH(v.body) FROM webhook_events v FORCE INDEX (PRIMARY) "
        "WHERE v.organization_id = :org AND v.id = d.event_id), 0)"));
constexpr auto kTotal = columns<AttemptCount>(column<&AttemptCount::attempt_class>("class"),
                                              column<&AttemptCount::attempts>("attempts"));
constexpr auto kFailing = db::row<EndpointId, Timestamp>("id", "failing_since");
constexpr auto kOldestDue = columns<WebhookBacklog>(
    column<&WebhookBacklog::oldest>("MIN(due)"),
    column<&WebhookBacklog::oldest_of_healthy>("MIN(IF(failing_since IS NULL, due, NULL))"));

// Calls `use` for each batch, with the number of ids and the parameters: `before`, then the ids.
template <class IdType, class Use>
void in_id_batches(std::initializer_list<Param> before, std::span<const IdType> ids,
                   const Use& use) {
    in_batches(ids, [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.insert(params.begin(), before);
        use(count, params);
    });
}

// Changes the rows with these ids. Returns the number of changed rows.
template <class IdType>
std::int64_t change_rows(db::OrgStore& org, const OrgSql<>& sql,
                         std::initializer_list<Param> before, std::span<const IdType> ids) {
    std::int64_t changed = 0;
    in_id_batches(before, ids, [&](std::size_t count, const std::vector<Param>& params) {
        changed += org.execute_bulk(sql, count, params);
    });
    return changed;
}

// Locks the rows with these ids. Returns the ids of the locked ones, sorted.
template <class IdType>
std::vector<IdType> lock_rows(db::OrgStore& org, const OrgSql<>& sql,
                              std::initializer_list<Param> before, std::span<const IdType> ids) {
    std::vector<IdType> locked;
    in_id_batches(before, ids, [&](std::size_t count, const std::vector<Param>& params) {
        for (const IdType id : org.each_bulk<IdType>(sql, count, params)) locked.push_back(id);
    });
    std::sort(locked.begin(), locked.end());
    return locked;
}

}  // namespace

// ---------------------------------------------------------------------------- due endpoints

std::vector<DueEndpoint> find_due_endpoints(db::Tx& tx, bool failing, Timestamp now, int limit) {
    static constexpr SystemSql kFind{
        "webhook_queue.find_due_endpoints",
        Why{"the runner serves all tenants; each row names its tenant"}, kDue, kSqlText<[] {
            return SqlText{"SELECT {columns} FROM (SELECT e.organization_id, e.id, ",
                           "e.installation_id, e.status, ",
                           kFirstDue,
                           "FROM webhook_endpoints e WHERE (e.status <> 'paused' OR ",
                           kIsUninstalled,
                           ") AND (e.failing_since IS NOT NULL) = ? ",
                           kOfEnabled,
                           ") AS e WHERE due <= ? ",
                           "OR (due IS NOT NULL AND (status = 'disabled' OR ",
                           kIsUninstalled,
                           ")) ORDER BY ROW_NUMBER() OVER (PARTITION BY organization_id ",
                           "ORDER BY due), due LIMIT ?"};
        }>};
    return tx.all(kFind, failing ? 1 : 0, now, limit);
}

std::optional<Target> find_target(db::OrgStore& org, EndpointId endpoint) {
    static constexpr OrgSql kFind{
        "webhook_queue.find_target", kTarget,
        "SELECT {columns} FROM webhook_endpoints e "
        "JOIN module_installations i ON i.organization_id = :org AND i.id = e.installation_id "
        "WHERE e.organization_id = :org AND e.id = ?"};
    return org.one(kFind, endpoint);
}

// ---------------------------------------------------------------------------- leases

namespace {

// Drops the deliveries after those whose bodies fit into the bytes, but never the first one.
void cut(std::vector<ClaimedDelivery>& deliveries, std::int64_t bytes) {
    std::int64_t sum = 0;
    std::size_t count = 0;
    for (const ClaimedDelivery& delivery : deliveries) {
        sum += delivery.size;
        if (count > 0 && sum > bytes) break;
        ++count;
    }
    deliveries.resize(count);
}

// Drops deliveries whose event does not exist. They must not stop those of other organizations.
void read_bodies(db::OrgStore& org, std::vector<ClaimedDelivery>& deliveries) {
    static constexpr OrgSql kRead{"webhook_queue.read_bodies", kBody,
                                  "SELECT {columns} FROM webhook_events FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id IN ({?})"};
    std::vector<WebhookEventId> events;
    events.reserve(deliveries.size());
    for (const ClaimedDelivery& delivery : deliveries) events.push_back(delivery.event);
    std::map<WebhookEventId, std::shared_ptr<const std::string>> bodies;
    in_batches(std::span<const WebhookEventId>(events), [&](const std::vector<Param>& params) {
        for (auto [event, body] : org.each_bulk(kRead, params.size(), params)) {
            bodies.emplace(event, std::make_shared<const std::string>(std::move(body)));
        }
    });
    for (ClaimedDelivery& delivery : deliveries) delivery.body = bodies[delivery.event];
    std::erase_if(deliveries, [](const ClaimedDelivery& delivery) { return !delivery.body; });
}

}  // namespace

Claim claim_deliveries(db::OrgStore& org, EndpointId endpoint, const Uuid& owner, Timestamp now,
                       Timestamp until, const ClaimLimit& limit) {
    // The hint: otherwise the optimizer chooses the primary key and reads all deliveries of the
    // tenant.
    static constexpr OrgSql kLock{
        "webhook_queue.lock_due", kClaimed,
        "SELECT {columns} FROM webhook_deliveries d FORCE INDEX (queue) "
        "WHERE d.status = 'pending' AND d.organization_id = :org AND d.endpoint_id = ? "
        "AND d.due_at <= ? ORDER BY d.due_at LIMIT ? FOR UPDATE SKIP LOCKED"};
    static constexpr OrgSql kClaim{
        "webhook_queue.claim",
        "UPDATE webhook_deliveries FORCE INDEX (PRIMARY) SET due_at = ?, lease_owner = ? "
        "WHERE organization_id = :org AND id IN ({?})"};
    Claim claim{org.all(kLock, endpoint, now, limit.deliveries)};
    auto& deliveries = claim.deliveries;
    if (deliveries.empty()) return claim;
    const std::size_t locked = deliveries.size();
    cut(deliveries, limit.bytes);
    claim.is_cut = deliveries.size() < locked;
    claim.has_more = claim.is_cut || locked == static_cast<std::size_t>(limit.deliveries);
    std::vector<DeliveryId> ids;
    ids.reserve(deliveries.size());
    for (const ClaimedDelivery& delivery : deliveries) ids.push_back(delivery.id);
    change_rows(org, kClaim, {until, owner}, std::span<const DeliveryId>(ids));
    read_bodies(org, deliveries);
    return claim;
}

std::vector<DeliveryId> lock_claimed(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                     const Uuid& owner) {
    static constexpr OrgSql kLock{
        "webhook_queue.lock_claimed",
        "SELECT id FROM webhook_deliveries FORCE INDEX (PRIMARY) "
        "WHERE lease_owner = ? AND status = 'pending' "
        "AND organization_id = :org AND id IN ({?}) ORDER BY id FOR UPDATE SKIP LOCKED"};
    return lock_rows(org, kLock, {owner}, deliveries);
}

std::int64_t release_deliveries(db::OrgStore& org, std::span<const DeliveryId> deliveries,
                                const Uuid& owner, Timestamp when) {
    static constexpr OrgSql kRelease{
        "webhook_queue.release",
        "UPDATE webhook_deliveries FORCE INDEX (PRIMARY) SET due_at = ?, lease_owner = NULL "
        "WHERE lease_owner = ? "
        "AND status = 'pending' AND organization_id = :org AND id IN ({?})"};
    return change_rows(org, kRelease, {when, owner}, deliveries);
}

// ---------------------------------------------------------------------------- results

void insert_attempts(db::OrgStore& org, std::span<const NewAttempt> attempts) {
    static constexpr OrgSql kInsert{
        "webhook_queue.insert_attempts",
        "INSERT INTO webhook_attempts (organization_id, id, delivery_id, class, status_code, "
        "duration_ms, excerpt, signature, created_at) VALUES {(:org, ?, ?, ?, ?, ?, ?, ?, ?)}"};
    in_pieces(attempts, [&](std::span<const NewAttempt> piece) {
        std::vector<AttemptId> ids(piece.size());
        std::vector<Param> params;
        for (std::size_t i = 0; i < piece.size(); ++i) {
            const NewAttempt& attempt = piece[i];
            ids[i] = AttemptId::create();
            params.insert(params.end(),
                          {ids[i], attempt.delivery, attempt.outcome, attempt.status_code,
                           attempt.duration_ms, Param::text_or_null(attempt.excerpt),
                           Param::text_or_null(attempt.signature), attempt.at});
        }
        org.execute_bulk(kInsert, piece.size(), params);
    });
}

void add_attempt_totals(db::Tx& tx, std::span<const AttemptCount> counts) {
    static constexpr SystemSql kAdd{
        "webhook_queue.add_totals", Why{"a metric of the installation without tenant data"},
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
        "webhook_queue.list_totals", Why{"a metric of the installation without tenant data"},
        kTotal, "SELECT {columns} FROM webhook_attempt_totals ORDER BY class"};
    return tx.all(kList);
}

void set_succeeded(db::OrgStore& org, std::span<const DeliveryId> deliveries, Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_succeeded",
        "UPDATE webhook_deliveries FORCE INDEX (PRIMARY) "
        "SET status = 'succeeded', step = step + 1, due_at = NULL, "
        "lease_owner = NULL, updated_at = ? WHERE organization_id = :org AND id IN ({?})"};
    change_rows(org, kSet, {now}, deliveries);
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
    static constexpr OrgSql kFind{"webhook_queue.find_failing", kFailing,
                                  "SELECT {columns} FROM webhook_endpoints FORCE INDEX (PRIMARY) "
                                  "WHERE failing_since IS NOT NULL "
                                  "AND organization_id = :org AND id IN ({?})"};
    std::map<EndpointId, Timestamp> failing;
    in_batches(endpoints, [&](const std::vector<Param>& params) {
        for (const auto& [endpoint, since] : org.each_bulk(kFind, params.size(), params)) {
            failing.emplace(endpoint, since);
        }
    });
    return failing;
}

std::vector<EndpointId> lock_endpoints(db::OrgStore& org, std::span<const EndpointId> endpoints) {
    static constexpr OrgSql kLock{"webhook_queue.lock_endpoints",
                                  "SELECT id FROM webhook_endpoints FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id IN ({?}) "
                                  "ORDER BY id FOR UPDATE SKIP LOCKED"};
    return lock_rows(org, kLock, {}, endpoints);
}

void clear_failing(db::OrgStore& org, std::span<const EndpointId> endpoints) {
    static constexpr OrgSql kClear{
        "webhook_queue.clear_failing",
        "UPDATE webhook_endpoints FORCE INDEX (PRIMARY) SET failing_since = NULL "
        "WHERE failing_since IS NOT NULL "
        "AND organization_id = :org AND id IN ({?})"};
    change_rows(org, kClear, {}, endpoints);
}

void set_failing(db::OrgStore& org, std::span<const EndpointId> endpoints, Timestamp now) {
    static constexpr OrgSql kSet{
        "webhook_queue.set_failing",
        "UPDATE webhook_endpoints FORCE INDEX (PRIMARY) SET failing_since = ? "
        "WHERE failing_since IS NULL "
        "AND organization_id = :org AND id IN ({?})"};
    change_rows(org, kSet, {now}, endpoints);
}

bool disable_endpoint(db::OrgStore& org, EndpointId endpoint, std::string_view reason,
                      std::optional<Timestamp> failing_before, Timestamp now) {
    static constexpr OrgSql kDisable{
        "webhook_queue.disable_endpoint",
        "UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = ?, "
        "updated_at = GREATEST(?, updated_at + 1) "
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
        "UPDATE module_installations SET status = 'error', updated_at = GREATEST(?, updated_at + 1) "
        "WHERE organization_id = :org AND id = ? AND status = 'enabled' AND NOT EXISTS ("
        "SELECT 1 FROM webhook_endpoints e FORCE INDEX (installation) "
        "WHERE e.organization_id = :org "
        "AND e.installation_id = ? AND e.status = 'active')"};
    org.execute(kSet, now, installation, installation);
}

// ---------------------------------------------------------------------------- metrics

WebhookBacklog measure_webhook_backlog(db::Tx& tx) {
    static constexpr SystemSql kCount{
        "webhook_queue.count_pending", Why{"a metric of the installation without tenant data"},
        "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries FORCE INDEX (queue) "
        "WHERE status = 'pending' "
        "LIMIT ?) AS counted"};
    static constexpr SystemSql kOldest{
        "webhook_queue.find_oldest", Why{"a metric of the installation without tenant data"},
        kOldestDue, kSqlText<[] {
            return SqlText{"SELECT {columns} FROM (SELECT e.failing_since, ", kFirstDue,
                           "FROM webhook_endpoints e WHERE e.status = 'active' ", kOfEnabled,
                           ") AS first"};
        }>};
    WebhookBacklog backlog = tx.value(kOldest);
    backlog.pending = tx.value<std::int64_t>(kCount, kMostCounted);
    return backlog;
}

}  // namespace muster::store
