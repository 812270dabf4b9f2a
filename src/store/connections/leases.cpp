#include "store/connections/leases.hpp"

#include <algorithm>

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::or_empty;
using db::OrgSql;
using db::Param;
using db::SystemSql;
using db::Why;

namespace {

constexpr auto kRemoved = columns<RemovedConnection>(
    column<&RemovedConnection::id>("id"), column<&RemovedConnection::provider>("provider"),
    column<&RemovedConnection::host>("host"),
    converted<or_empty<std::string>, &RemovedConnection::tokens>("tokens"),
    column<&RemovedConnection::token_generation>("token_generation"),
    column<&RemovedConnection::attempts>("refresh_attempts"),
    column<&RemovedConnection::due_at>("refresh_due_at"),
    column<&RemovedConnection::removed_at>("removed_at"));

constexpr auto kDue = columns<DueConnection>(
    column<&DueConnection::organization>("organization_id"), column<&DueConnection::id>("id"),
    column<&DueConnection::provider>("provider"),
    column<&DueConnection::is_removed>("removed_at IS NOT NULL"));

constexpr auto kCounted = columns<ConnectionCount>(
    column<&ConnectionCount::status>("status"), column<&ConnectionCount::connections>("COUNT(*)"));

}  // namespace

bool claim_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner, Timestamp now,
                      Timestamp until) {
    static constexpr OrgSql kClaim{"connection_leases.claim",
                                   "UPDATE connections SET lease_owner = ?, lease_until = ? "
                                   "WHERE organization_id = :org AND id = ? AND lease_until <= ?"};
    return org.execute(kClaim, owner, until, id, now) == 1;
}

bool write_tokens(db::OrgStore& org, const rules::ProviderConnection& connection,
                  std::int64_t generation) {
    // A connection that was removed in the meantime remains due, so that these tokens are revoked.
    static constexpr OrgSql kWrite{
        "connection_leases.write_tokens",
        "UPDATE connections SET status = 'connected', error = NULL, host = ?, tokens = ?, "
        "token_generation = token_generation + 1, details = ?, access_expires_at = ?, "
        "refresh_due_at = CASE WHEN removed_at IS NULL THEN ? ELSE refresh_due_at END, "
        "refresh_attempts = 0, refreshed_at = ?, lease_owner = NULL, lease_until = 0, "
        "updated_at = ? WHERE organization_id = :org AND id = ? AND token_generation = ?"};
    return org.execute(kWrite, connection.host, connection.tokens, connection.details,
                       connection.access_expires_at, connection.refresh_due_at,
                       connection.refreshed_at, connection.updated_at, connection.id,
                       generation) == 1;
}

bool write_refresh_failure(db::OrgStore& org, const rules::ProviderConnection& connection,
                           const Uuid& owner) {
    static constexpr OrgSql kWrite{
        "connection_leases.write_failure",
        "UPDATE connections SET status = ?, error = ?, refresh_attempts = ?, "
        "refresh_due_at = CASE WHEN removed_at IS NULL THEN ? ELSE refresh_due_at END, "
        "lease_owner = NULL, lease_until = 0, updated_at = ? WHERE organization_id = :org "
        "AND id = ? AND lease_owner = ? AND token_generation = ?"};
    return org.execute(kWrite, text_of(connection.status), connection.error,
                       connection.refresh_attempts, connection.refresh_due_at,
                       connection.updated_at, connection.id, owner,
                       connection.token_generation) == 1;
}

void postpone_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner,
                         std::int64_t attempts, Timestamp due) {
    static constexpr OrgSql kPostpone{
        "connection_leases.postpone",
        "UPDATE connections SET refresh_attempts = ?, refresh_due_at = ?, lease_owner = NULL, "
        "lease_until = 0 WHERE organization_id = :org AND id = ? AND lease_owner = ?"};
    org.execute(kPostpone, attempts, due, id, owner);
}

void make_connection_due(db::OrgStore& org, ConnectionId id, Timestamp now) {
    static constexpr OrgSql kMake{"connection_leases.make_due",
                                  "UPDATE connections SET refresh_due_at = ? "
                                  "WHERE organization_id = :org AND id = ? AND lease_until <= ?"};
    org.execute(kMake, now, id, now);
}

void mark_connection_removed(db::OrgStore& org, ConnectionId id, Timestamp now) {
    // Keeps the lease: a running refresh is about to write newer tokens.
    static constexpr OrgSql kMark{
        "connection_leases.mark_removed",
        "UPDATE connections SET removed_at = ?, refresh_due_at = ?, refresh_attempts = 0, "
        "updated_at = ? WHERE organization_id = :org AND id = ?"};
    org.execute(kMark, now, now, now, id);
}

bool delete_connection(db::OrgStore& org, ConnectionId id, std::int64_t generation) {
    static constexpr OrgSql kDelete{
        "connection_leases.delete",
        "DELETE FROM connections WHERE organization_id = :org AND id = ? AND token_generation = ?"};
    return org.execute(kDelete, id, generation) == 1;
}

std::optional<RemovedConnection> lock_removed_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kLock{
        "connection_leases.lock_removed", kRemoved,
        "SELECT {columns} FROM connections WHERE organization_id = :org AND id = ? AND removed_at IS NOT NULL "
        "FOR UPDATE"};
    return org.one(kLock, id);
}

std::vector<DueConnection> find_due_connections(db::Tx& tx, Timestamp now,
                                                std::span<const std::string_view> excluded,
                                                int limit) {
    // "" is not a provider; it fills the list, so that the statement is always the same.
    static constexpr SystemSql kFind{
        "connection_leases.find_due",
        Why{"the runner serves all tenants; each row names its tenant"}, kDue,
        "SELECT {columns} FROM connections FORCE INDEX (refresh_due_at) "
        "WHERE provider NOT IN ({?}) AND refresh_due_at <= ? AND lease_until <= ? "
        "AND (removed_at IS NOT NULL OR (SELECT o.disabled_at FROM organizations o "
        "WHERE o.id = connections.organization_id) IS NULL) "
        "ORDER BY refresh_due_at LIMIT ?"};
    std::vector<Param> params(kMostExcludedProviders, Param(std::string_view()));
    const auto named = excluded.first(std::min(excluded.size(), kMostExcludedProviders));
    std::transform(named.begin(), named.end(), params.begin(),
                   [](std::string_view provider) { return Param(provider); });
    params.insert(params.end(), {Param(now), Param(now), Param(limit)});
    return tx.all_bulk(kFind, kMostExcludedProviders, params);
}

std::vector<ConnectionCount> count_connections_by_status(db::Tx& tx) {
    static constexpr SystemSql kCount{
        "connection_leases.count_by_status",
        Why{"a metric of the installation without tenant data"}, kCounted,
        "SELECT {columns} FROM connections WHERE removed_at IS NULL GROUP BY status"};
    return tx.all(kCount);
}

std::optional<Timestamp> first_connection_due(db::Tx& tx) {
    static constexpr SystemSql kFind{
        "connection_leases.first_due", Why{"a metric of the installation without tenant data"},
        "SELECT refresh_due_at FROM connections FORCE INDEX (refresh_due_at) "
        "WHERE refresh_due_at IS NOT NULL AND (removed_at IS NOT NULL "
        "OR (SELECT o.disabled_at FROM organizations o WHERE o.id = connections.organization_id) "
        "IS NULL) ORDER BY refresh_due_at LIMIT 1"};
    return tx.one<Timestamp>(kFind);
}

}  // namespace muster::store
