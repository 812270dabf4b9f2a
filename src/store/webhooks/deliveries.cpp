#include "store/webhooks/deliveries.hpp"

#include "db/sql_text.hpp"
#include "rules/webhook_wire.hpp"

#include <algorithm>
#include <unordered_map>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::kSqlText;
using db::OrgSql;
using db::Param;
using db::SqlText;
using rules::WebhookAttempt;
using rules::WebhookDelivery;

namespace {

constexpr auto kDelivery = columns<WebhookDelivery>(
    column<&WebhookDelivery::id>("d.id"),
    converted<rules::webhook_id, &WebhookDelivery::webhook_id>("d.event_id"),
    column<&WebhookDelivery::event_type>("v.type"), column<&WebhookDelivery::status>("d.status"),
    column<&WebhookDelivery::next_attempt_at>("d.due_at"),
    column<&WebhookDelivery::created_at>("d.created_at"));

constexpr SqlText find_text(std::string_view hint, std::string_view condition) {
    return {"SELECT {columns} FROM webhook_deliveries d", hint,
            " STRAIGHT_JOIN webhook_events v ON v.organization_id = :org AND v.id = d.event_id "
            "WHERE d.organization_id = :org AND ",
            condition};
}
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
                       column<&AttemptOf::attempt, &WebhookAttempt::response_excerpt>("a.excerpt"));

// An id lower than all ids created since this time. The margin covers the time between the creation
// of an id and the row's own time.
std::string id_before(Timestamp when) {
    constexpr std::size_t kTimeBytes = 6;
    constexpr Milliseconds kMargin{60'000};
    std::string id(Uuid::kBytes, '\0');
    std::int64_t time = std::max<std::int64_t>((when - kMargin).milliseconds(), 0);
    for (std::size_t i = kTimeBytes; i-- > 0; time >>= 8) id[i] = static_cast<char>(time & 0xff);
    return id;
}

}  // namespace

std::vector<WebhookDelivery> page_deliveries(db::OrgStore& org, EndpointId endpoint,
                                             std::optional<DeliveryId> before,
                                             const DeliveryFilter& filter, int limit) {
    // Ids are UUIDv7, so they are ordered by time. Without the hint, the optimizer may sort all
    // deliveries of a status.
    static constexpr OrgSql kPage{
        "webhook_deliveries.page", kDelivery, kSqlText<[] {
            return find_text(" FORCE INDEX (endpoint)",
                             "d.endpoint_id = ? AND d.id < ? AND (? IS NULL OR d.status = ?) "
                             "AND (? IS NULL OR v.type = ?) ORDER BY d.id DESC LIMIT ?");
        }>};
    const std::string last(Uuid::kBytes, '\xff');
    const Param bound = before ? Param(*before) : Param(last);
    return org.all(kPage, endpoint, bound, filter.status, filter.status, filter.event_type,
                   filter.event_type, limit);
}

std::optional<WebhookDelivery> find_delivery(db::OrgStore& org, EndpointId endpoint,
                                             DeliveryId id) {
    static constexpr OrgSql kFind{
        "webhook_deliveries.find", kDelivery,
        kSqlText<[] { return find_text("", "d.id = ? AND d.endpoint_id = ?"); }>};
    return org.one(kFind, id, endpoint);
}

void read_attempts(db::OrgStore& org, std::vector<WebhookDelivery>& deliveries) {
    // The row numbers come from the index only; excerpts are read afterwards.
    static constexpr OrgSql kRead{
        "webhook_deliveries.read_attempts", kAttempt,
        "SELECT {columns} FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place "
        "FROM webhook_attempts FORCE INDEX (delivery) "
        "WHERE organization_id = :org AND delivery_id IN ({?})) AS newest "
        "STRAIGHT_JOIN webhook_attempts a ON a.organization_id = :org AND a.id = newest.id "
        "WHERE newest.place <= ? ORDER BY a.delivery_id, a.id"};
    if (deliveries.empty()) return;
    std::vector<Param> ids;
    std::unordered_map<DeliveryId, WebhookDelivery*> by_id;
    for (WebhookDelivery& delivery : deliveries) {
        ids.emplace_back(delivery.id);
        by_id[delivery.id] = &delivery;
    }
    const std::size_t count = ids.size();
    ids.emplace_back(kMostAttemptsShown);
    for (auto [delivery, attempt] : org.each_bulk(kRead, count, ids)) {
        by_id.at(delivery)->attempts.push_back(std::move(attempt));
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

std::int64_t recover_deliveries(db::OrgStore& org, EndpointId endpoint,
                                rules::DeliveryStatus status, Timestamp since, Timestamp now,
                                std::int64_t limit) {
    // With this index, only the updated rows are locked, not new deliveries of the endpoint. Its
    // entries end with the id, which ascends with created_at.
    static constexpr OrgSql kRecover{
        "webhook_deliveries.recover",
        "UPDATE webhook_deliveries FORCE INDEX (queue) SET status = 'pending', step = 0, "
        "due_at = ?, lease_owner = NULL, updated_at = ? WHERE status = ? "
        "AND organization_id = :org AND endpoint_id = ? AND due_at IS NULL AND id >= ? "
        "AND created_at >= ? LIMIT ?"};
    return org.execute(kRecover, now, now, text_of(status), endpoint, id_before(since), since,
                       limit);
}

}  // namespace muster::store
