#include "store/webhooks/subscriptions.hpp"

#include <algorithm>

#include "store/batches.hpp"
#include "store/words.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kUnindexed =
    columns<UnindexedEndpoint>(column<&UnindexedEndpoint::organization>("organization_id"),
                               column<&UnindexedEndpoint::endpoint>("id"));

struct Subscribed {
    std::vector<std::string> types;
    Timestamp updated_at;
};
constexpr auto kSubscribed =
    columns<Subscribed>(converted<words_of, &Subscribed::types>("event_types"),
                        column<&Subscribed::updated_at>("updated_at"));

constexpr auto kSubscriber = columns<Subscriber>(
    column<&Subscriber::endpoint>("e.id"),
    column<&Subscriber::is_ready>("e.status = 'active' AND e.failing_since IS NULL"),
    column<&Subscriber::created_at>("e.created_at"),
    column<&Subscriber::disabled_at>("IF(e.status = 'disabled', e.updated_at, "
                                     "IF(i.status IN ('enabled', 'error'), NULL, i.updated_at))"));

}  // namespace

void write_subscriptions(db::OrgStore& org, EndpointId endpoint, std::span<const std::string> types,
                         Timestamp updated_at) {
    static constexpr OrgSql kDelete{
        "webhook_subscriptions.delete",
        "DELETE FROM webhook_subscriptions WHERE organization_id = :org AND endpoint_id = ?"};
    static constexpr OrgSql kInsert{
        "webhook_subscriptions.insert",
        "INSERT INTO webhook_subscriptions (organization_id, event_type, endpoint_id) "
        "VALUES {(:org, ?, ?)}"};
    org.execute(kDelete, endpoint);
    in_pieces(types, [&](std::span<const std::string> piece) {
        std::vector<Param> params;
        for (const std::string& type : piece) params.insert(params.end(), {type, endpoint});
        org.execute_bulk(kInsert, piece.size(), params);
    });
    mark_indexed(org, endpoint, updated_at);
}

void mark_indexed(db::OrgStore& org, EndpointId endpoint, Timestamp updated_at) {
    static constexpr OrgSql kMark{
        "webhook_subscriptions.mark",
        "UPDATE webhook_endpoints SET indexed_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kMark, updated_at, endpoint);
}

std::vector<UnindexedEndpoint> find_unindexed(db::Tx& tx, int limit) {
    static constexpr SystemSql kFind{
        "webhook_subscriptions.find_unindexed",
        Why{"the runner serves all tenants; each row names its tenant"}, kUnindexed,
        "SELECT {columns} FROM webhook_endpoints FORCE INDEX (PRIMARY) "
        "WHERE indexed_at IS NULL OR indexed_at <> updated_at "
        "ORDER BY organization_id, id LIMIT ?"};
    return tx.all(kFind, limit);
}

void index_subscriptions(db::OrgStore& org, EndpointId endpoint) {
    static constexpr OrgSql kLock{"webhook_subscriptions.lock_endpoint", kSubscribed,
                                  "SELECT {columns} FROM webhook_endpoints "
                                  "WHERE organization_id = :org AND id = ? FOR UPDATE SKIP LOCKED"};
    const auto found = org.one(kLock, endpoint);
    if (found) write_subscriptions(org, endpoint, found->types, found->updated_at);
}

std::vector<Subscriber> find_subscribers(db::OrgStore& org, std::string_view event_type) {
    static constexpr OrgSql kFind{
        "webhook_subscriptions.find_subscribers", kSubscriber,
        "SELECT {columns} FROM webhook_subscriptions s FORCE INDEX (PRIMARY) "
        "STRAIGHT_JOIN webhook_endpoints e FORCE INDEX (PRIMARY) "
        "ON e.organization_id = :org AND e.id = s.endpoint_id "
        "STRAIGHT_JOIN module_installations i ON i.organization_id = :org "
        "AND i.id = e.installation_id "
        "WHERE s.organization_id = :org AND s.event_type = ? AND e.indexed_at IS NOT NULL "
        "AND e.removed_at IS NULL ORDER BY s.organization_id, s.event_type, s.endpoint_id"};
    static constexpr OrgSql kFindUnindexed{
        "webhook_subscriptions.find_subscribers_unindexed", kSubscriber,
        "SELECT {columns} FROM webhook_endpoints e FORCE INDEX (indexed_at) "
        "STRAIGHT_JOIN module_installations i ON i.organization_id = :org "
        "AND i.id = e.installation_id "
        "WHERE e.organization_id = :org AND e.indexed_at IS NULL AND e.removed_at IS NULL "
        "AND LOCATE(CONCAT(' ', ?, ' '), CONCAT(' ', e.event_types, ' ')) > 0 "
        "ORDER BY e.organization_id, e.indexed_at, e.id"};
    // In this order: an endpoint that is indexed in between is found twice, and never missed.
    auto found = org.all(kFindUnindexed, event_type);
    for (const Subscriber& subscriber : org.each(kFind, event_type)) {
        const bool is_known = std::any_of(found.begin(), found.end(), [&](const Subscriber& other) {
            return other.endpoint == subscriber.endpoint;
        });
        if (!is_known) found.push_back(subscriber);
    }
    return found;
}

}  // namespace muster::store
