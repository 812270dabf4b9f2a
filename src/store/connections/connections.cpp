#include "store/connections/connections.hpp"

namespace muster::store {

using db::OrgSql;
using rules::ProviderConnection;

namespace {

#define CONNECTION_COLUMNS                                                     \
    "c.organization_id, c.id, c.provider, c.name, c.host, c.status, c.error, " \
    "c.tokens, c.token_generation, c.details, c.access_expires_at, "           \
    "c.refresh_due_at, c.refresh_attempts, c.refreshed_at, c.created_by, "     \
    "c.created_at, c.updated_at"

ProviderConnection connection_of(const db::Rows& rows) {
    ProviderConnection connection;
    connection.organization_id = rows.id<OrgId>(1);
    connection.id = rows.id<ConnectionId>(2);
    connection.provider = rows.bytes(3);
    connection.name = rows.bytes(4);
    connection.host = rows.bytes(5);
    connection.status =
        rules::connection_status_of(rows.bytes(6)).value_or(rules::ConnectionStatus::Error);
    if (!rows.is_null(7)) connection.error = rows.bytes(7);
    connection.tokens = rows.text_or_empty(8);
    connection.token_generation = rows.integer(9);
    connection.details = rows.bytes(10);
    connection.access_expires_at = rows.optional_timestamp(11);
    connection.refresh_due_at = rows.optional_timestamp(12);
    connection.refresh_attempts = rows.integer(13);
    connection.refreshed_at = rows.optional_timestamp(14);
    connection.created_by = rows.optional_id<AdminId>(15);
    connection.created_at = rows.timestamp(16);
    connection.updated_at = rows.timestamp(17);
    return connection;
}

std::optional<ProviderConnection> one_connection(db::Rows rows) {
    if (!rows.next()) return std::nullopt;
    return connection_of(rows);
}

}  // namespace

std::int64_t count_connections_for_adding(db::OrgStore& org) {
    // Two that find none at all may both go on, and deadlock over their rows: one runs again.
    static constexpr OrgSql kCount{"connections.count_for_adding",
                                   "SELECT COUNT(*) FROM connections WHERE organization_id = :org "
                                   "AND removed_at IS NULL FOR UPDATE"};
    auto rows = org.query(kCount);
    rows.next();
    return rows.integer(1);
}

void insert_connection(db::OrgStore& org, const ProviderConnection& connection) {
    static constexpr OrgSql kInsert{
        "connections.insert",
        "INSERT INTO connections (organization_id, id, provider, name, host, status, details, "
        "created_by, created_at, updated_at) VALUES (:org, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
    org.execute(kInsert, connection.id, connection.provider, connection.name, connection.host,
                text_of(connection.status), connection.details, connection.created_by,
                connection.created_at, connection.updated_at);
}

std::vector<ListedConnection> list_connections(db::OrgStore& org) {
    static constexpr OrgSql kList{
        "connections.list",
        "SELECT " CONNECTION_COLUMNS
        ", a.expires_at FROM connections c LEFT JOIN connection_authorizations a "
        "ON a.organization_id = :org AND a.connection_id = c.id "
        "WHERE c.organization_id = :org AND c.removed_at IS NULL ORDER BY c.id"};
    std::vector<ListedConnection> list;
    for (auto rows = org.query(kList); rows.next();) {
        list.push_back({connection_of(rows), rows.optional_timestamp(18)});
    }
    return list;
}

std::optional<ProviderConnection> find_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kFind{"connections.find",
                                  "SELECT " CONNECTION_COLUMNS
                                  " FROM connections c WHERE c.organization_id = :org "
                                  "AND c.id = ? AND c.removed_at IS NULL"};
    return one_connection(org.query(kFind, id));
}

std::optional<ProviderConnection> lock_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kLock{"connections.lock",
                                  "SELECT " CONNECTION_COLUMNS
                                  " FROM connections c WHERE c.organization_id = :org "
                                  "AND c.id = ? AND c.removed_at IS NULL FOR UPDATE"};
    return one_connection(org.query(kLock, id));
}

void set_connection_status(db::OrgStore& org, const ProviderConnection& connection) {
    static constexpr OrgSql kSet{"connections.set_status",
                                 "UPDATE connections SET status = ?, error = ?, updated_at = ? "
                                 "WHERE organization_id = :org AND id = ?"};
    org.execute(kSet, text_of(connection.status), connection.error, connection.updated_at,
                connection.id);
}

void rename_connection(db::OrgStore& org, const ProviderConnection& connection) {
    static constexpr OrgSql kRename{"connections.rename",
                                    "UPDATE connections SET name = ?, host = ?, updated_at = ? "
                                    "WHERE organization_id = :org AND id = ?"};
    org.execute(kRename, connection.name, connection.host, connection.updated_at, connection.id);
}

}  // namespace muster::store
