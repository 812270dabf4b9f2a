#include "store/webhooks/deliveries.hpp"

#include "db/sql_text.hpp"
#include "rules/webhook_wire.hpp"
#include "store/batches.hpp"
#include "store/id_bounds.hpp"

#include <algorithm>
#include <unordered_map>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::kSqlText;
using db::nested;
using db::OrgSql;
using db::Param;
using db::SqlText;
using rules::WebhookAttempt;
using rules::WebhookDelivery;

namespace {

constexpr auto delivery_columns(const auto&... more) {
    return columns<WebhookDelivery>(
        column<&WebhookDelivery::id>("d.id"),
        column<&WebhookDelivery::endpoint_id>("d.endpoint_id"),
        column<&WebhookDelivery::module_installation_id>("e.installation_id"),
        converted<rules::webhook_id, &WebhookDelivery::webhook_id>("d.event_id"),
        column<&WebhookDelivery::event_type>("v.type"),
        column<&WebhookDelivery::status>("d.status"),
        column<&WebhookDelivery::next_attempt_at>("d.due_at"),
        column<&WebhookDelivery::created_at>("d.created_at"), more...);
}
constexpr auto kListed = delivery_columns();
constexpr auto kDelivery = delivery_columns(column<&WebhookDelivery::payload>("v.body"));
constexpr auto kEntry = columns<DeliveryEntry>(column<&DeliveryEntry::id>("k.id"),
                                               nested<&DeliveryEntry::delivery>(kListed));

// The entries of an index, and the deliveries among them that meet the conditions. A delivery's
// last attempt is one look-up.
constexpr SqlText page_text(std::string_view hint, std::string_view condition) {
    return {"SELECT {columns} FROM (SELECT id FROM webhook_deliveries FORCE INDEX (", hint,
            ") WHERE organization_id = :org AND ", condition,
            "id >= ? AND id < ? ORDER BY id DESC LIMIT ?) k "
            "LEFT JOIN (webhook_deliveries d FORCE INDEX (PRIMARY) "
            "STRAIGHT_JOIN webhook_events v FORCE INDEX (PRIMARY) "
            "ON v.organization_id = :org AND v.id = d.event_id "
            "STRAIGHT_JOIN webhook_endpoints e FORCE INDEX (PRIMARY) "
            "ON e.organization_id = :org AND e.id = d.endpoint_id AND e.removed_at IS NULL) "
            "ON d.organization_id = :org AND d.id = k.id "
            "AND d.created_at >= ? AND d.created_at < ? AND (? IS NULL OR d.endpoint_id = ?) "
            "AND (? IS NULL OR d.status = ?) AND (? IS NULL OR v.type = ?) "
            "AND (? IS NULL OR (SELECT a.class FROM webhook_attempts a FORCE INDEX (delivery) "
            "WHERE a.organization_id = :org AND a.delivery_id = d.id "
            "ORDER BY a.organization_id DESC, a.delivery_id DESC, a.id DESC LIMIT 1) LIKE ?) "
            "ORDER BY k.id DESC"};
}
// The attempts of deliveries with their places, the newest first. Reads the index only.
constexpr std::string_view kPlaced =
    "(SELECT id, ROW_NUMBER() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place "
    "FROM webhook_attempts FORCE INDEX (delivery) "
    "WHERE organization_id = :org AND delivery_id IN ({?})) AS placed ";

struct AttemptOf {
    DeliveryId delivery;
    WebhookAttempt attempt;
};
constexpr auto kAttempt =
    columns<AttemptOf>(column<&AttemptOf::delivery>("a.delivery_id"),
                       column<&AttemptOf::attempt, &WebhookAttempt::at>("a.created_at"),
                       column<&AttemptOf::attempt, &WebhookAttempt::status_code>("a.status_code"),
                       column<&AttemptOf::attempt, &WebhookAttempt::attempt_class>("a.class"),
                       column<&AttemptOf::attempt, &WebhookAttempt::duration_ms>("a.duration_ms"),
                       column<&AttemptOf::attempt, &WebhookAttempt::response_excerpt>("a.excerpt"),
                       column<&AttemptOf::attempt, &WebhookAttempt::signature>("a.signature"));

// The bounds of the ids that were created in a time span, and those of created_at. The margin
// covers the time between the creation of an id and the row's own time.
struct Bounds {
    std::string from;
    std::string to;
    Timestamp since;
    Timestamp until;
};
Bounds bounds_of(const TimeSpan& span) {
    constexpr Milliseconds kMargin{60'000};
    Bounds bounds{std::string(Uuid::kBytes, '\0'), std::string(Uuid::kBytes, '\xff'),
                  Timestamp(INT64_MIN), Timestamp(INT64_MAX)};
    if (span.since) {
        bounds.from = id_before(*span.since, kMargin);
        bounds.since = *span.since;
    }
    if (span.until) {
        bounds.to = id_at(*span.until + kMargin, '\0');
        bounds.until = *span.until;
    }
    return bounds;
}

// A pattern of webhook_attempts.class.
std::optional<std::string> pattern_of(const std::optional<rules::AttemptClass>& attempt_class) {
    if (!attempt_class) return std::nullopt;
    if (*attempt_class == rules::AttemptClass::Accepted) return "2__";
    return std::string(text_of(*attempt_class));
}

}  // namespace

std::vector<DeliveryEntry> page_deliveries(db::OrgStore& org, const DeliveryFilter& filter,
                                           std::optional<DeliveryId> before, int limit) {
    // Ids are UUIDv7, so they are ordered by time. Without the hint, the optimizer may sort all
    // deliveries of a status. due_at is NULL unless the delivery is pending.
    static constexpr OrgSql kAll{"webhook_deliveries.page", kEntry,
                                 kSqlText<[] { return page_text("PRIMARY", ""); }>};
    static constexpr OrgSql kOfStatus{
        "webhook_deliveries.page_of_status", kEntry,
        kSqlText<[] { return page_text("status", "status = ? AND "); }>};
    static constexpr OrgSql kOfEndpoint{
        "webhook_deliveries.page_of_endpoint", kEntry,
        kSqlText<[] { return page_text("endpoint", "endpoint_id = ? AND "); }>};
    static constexpr OrgSql kEnded{
        "webhook_deliveries.page_of_endpoint_and_status", kEntry, kSqlText<[] {
            return page_text("queue", "endpoint_id = ? AND status = ? AND due_at IS NULL AND ");
        }>};
    const Bounds bounds = bounds_of(filter.span);
    const std::string end = before ? std::min(bounds.to, std::string(before->bytes())) : bounds.to;
    const auto status = filter.status ? std::optional(text_of(*filter.status)) : std::nullopt;
    const auto pattern = pattern_of(filter.attempt_class);
    const auto page = [&](const auto& sql, const auto&... of_index) {
        return org.all(sql, of_index..., bounds.from, end, limit, bounds.since, bounds.until,
                       filter.endpoint, filter.endpoint, status, status, filter.event_type,
                       filter.event_type, pattern, pattern);
    };
    const bool has_ended = filter.status && *filter.status != rules::DeliveryStatus::Pending;
    if (filter.endpoint && has_ended) return page(kEnded, *filter.endpoint, *status);
    if (filter.status) return page(kOfStatus, *status);
    return filter.endpoint ? page(kOfEndpoint, *filter.endpoint) : page(kAll);
}

std::optional<WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                             DeliveryId id) {
    static constexpr OrgSql kFind{
        "webhook_deliveries.find", kDelivery,
        "SELECT {columns} FROM webhook_deliveries d "
        "STRAIGHT_JOIN webhook_events v ON v.organization_id = :org AND v.id = d.event_id "
        "STRAIGHT_JOIN webhook_endpoints e ON e.organization_id = :org AND e.id = d.endpoint_id "
        "WHERE d.organization_id = :org AND d.id = ? AND d.endpoint_id = ?"};
    return org.one(kFind, id, endpoint);
}

void read_attempts(db::OrgStore& org, std::vector<WebhookDelivery>& deliveries) {
    static constexpr OrgSql kRead{
        "webhook_deliveries.read_attempts", kAttempt, kSqlText<[] {
            return SqlText{
                "SELECT {columns} FROM ", kPlaced,
                "STRAIGHT_JOIN webhook_attempts a ON a.organization_id = :org AND a.id = placed.id "
                "WHERE placed.place <= ? ORDER BY a.delivery_id, a.id"};
        }>};
    std::vector<DeliveryId> ids;
    std::unordered_map<DeliveryId, WebhookDelivery*> by_id;
    for (WebhookDelivery& delivery : deliveries) {
        ids.push_back(delivery.id);
        by_id[delivery.id] = &delivery;
    }
    in_batches(std::span<const DeliveryId>(ids), [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        params.emplace_back(kMostAttemptsShown);
        for (auto [delivery, attempt] : org.each_bulk(kRead, count, params)) {
            by_id.at(delivery)->attempts.push_back(std::move(attempt));
        }
    });
}

std::int64_t delete_old_attempts(db::OrgStore& org, std::span<const DeliveryId> deliveries) {
    // Found without locks first: usually there are none.
    static constexpr OrgSql kFind{
        "webhook_deliveries.find_old_attempts", kSqlText<[] {
            return SqlText{"SELECT id FROM ", kPlaced, "WHERE place > ? LIMIT ?"};
        }>};
    static constexpr OrgSql kDelete{
        "webhook_deliveries.delete_old_attempts",
        "DELETE FROM webhook_attempts WHERE organization_id = :org AND id IN ({?})"};
    const auto most = kMostOldAttempts * static_cast<std::int64_t>(deliveries.size());
    std::vector<AttemptId> old;
    in_batches(deliveries, [&](std::vector<Param> params) {
        const std::size_t count = params.size();
        const auto found = static_cast<std::int64_t>(old.size());
        params.insert(params.end(), {kMostAttemptsShown, most - found});
        for (const AttemptId id : org.each_bulk<AttemptId>(kFind, count, params)) old.push_back(id);
    });
    std::int64_t deleted = 0;
    in_batches(std::span<const AttemptId>(old), [&](const std::vector<Param>& params) {
        deleted += org.execute_bulk(kDelete, params.size(), params);
    });
    return deleted;
}

bool requeue_delivery(db::OrgStore& org, EndpointId endpoint, DeliveryId id, Timestamp now) {
    static constexpr OrgSql kRequeue{
        "webhook_deliveries.requeue",
        "UPDATE webhook_deliveries SET status = 'pending', step = 0, due_at = ?, "
        "lease_owner = NULL, updated_at = ? WHERE organization_id = :org AND id = ? "
        "AND endpoint_id = ? AND (status <> 'pending' OR lease_owner IS NULL)"};
    return org.execute(kRequeue, now, now, id, endpoint) == 1;
}

std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint,
                                rules::DeliveryStatus status, const TimeSpan& span, Timestamp now,
                                std::int64_t limit) {
    // With this index, only the updated rows are locked, not new deliveries of the endpoint. Its
    // entries end with the id, which ascends with created_at.
    static constexpr OrgSql kRecover{
        "webhook_deliveries.recover",
        "UPDATE webhook_deliveries FORCE INDEX (queue) SET status = 'pending', step = 0, "
        "due_at = ?, lease_owner = NULL, updated_at = ? WHERE status = ? "
        "AND organization_id = :org AND endpoint_id = ? AND due_at IS NULL AND id >= ? AND id < ? "
        "AND created_at >= ? AND created_at < ? LIMIT ?"};
    const Bounds bounds = bounds_of(span);
    return org.execute(kRecover, now, now, text_of(status), endpoint, bounds.from, bounds.to,
                       bounds.since, bounds.until, limit);
}

std::int64_t count_recoverable(db::OrgStore& org, EndpointId endpoint, rules::DeliveryStatus status,
                               const TimeSpan& span, std::int64_t most) {
    static constexpr OrgSql kCount{
        "webhook_deliveries.count_recoverable",
        "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries FORCE INDEX (queue) "
        "WHERE status = ? AND organization_id = :org AND endpoint_id = ? AND due_at IS NULL "
        "AND id >= ? AND id < ? AND created_at >= ? AND created_at < ? LIMIT ?) AS counted"};
    const Bounds bounds = bounds_of(span);
    return org.value<std::int64_t>(kCount, text_of(status), endpoint, bounds.from, bounds.to,
                                   bounds.since, bounds.until, most);
}

}  // namespace muster::store
