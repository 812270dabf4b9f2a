#include "store/connections/connections.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::converted;
using db::nested;
using db::or_empty;
using db::OrgSql;
using rules::ProviderConnection;

namespace {

constexpr auto kConnection = columns<ProviderConnection>(
    column<&ProviderConnection::organization_id>("c.organization_id"),
    column<&ProviderConnection::id>("c.id"), column<&ProviderConnection::provider>("c.provider"),
    column<&ProviderConnection::name>("c.name"), column<&ProviderConnection::host>("c.host"),
    column<&ProviderConnection::status>("c.status"), column<&ProviderConnection::error>("c.error"),
    converted<or_empty<std::string>, &ProviderConnection::tokens>("c.tokens"),
    column<&ProviderConnection::token_generation>("c.token_generation"),
    column<&ProviderConnection::details>("c.details"),
    column<&ProviderConnection::access_expires_at>("c.access_expires_at"),
    column<&ProviderConnection::refresh_due_at>("c.refresh_due_at"),
    column<&ProviderConnection::refresh_attempts>("c.refresh_attempts"),
    column<&ProviderConnection::refreshed_at>("c.refreshed_at"),
    column<&ProviderConnection::created_by>("c.created_by"),
    column<&ProviderConnection::created_at>("c.created_at"),
    column<&ProviderConnection::updated_at>("c.updated_at"));
constexpr auto kListed =
    columns<ListedConnection>(nested<&ListedConnection::connection>(kConnection),
                              column<&ListedConnection::authorization_expires_at>("a.expires_at"));

}  // namespace

std::int64_t lock_and_count_connections(db::OrgStore& org) {
    // Without rows there is nothing to lock: the first ones may be added at the same time.
    static constexpr OrgSql kCount{"connections.count_for_adding",
                                   "SELECT COUNT(*) FROM connections WHERE organization_id = :org "
                                   "AND removed_at IS NULL FOR UPDATE"};
    return org.value<std::int64_t>(kCount);
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
        "connections.list", kListed,
        "SELECT {columns} FROM connections c FORCE INDEX (PRIMARY) "
        "LEFT JOIN connection_authorizations a "
        "ON a.organization_id = :org AND a.connection_id = c.id "
        "WHERE c.organization_id = :org AND c.removed_at IS NULL ORDER BY c.id"};
    return org.all(kList);
}

std::optional<ListedConnection> find_listed_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kFind{
        "connections.find_listed", kListed,
        "SELECT {columns} FROM connections c LEFT JOIN connection_authorizations a "
        "ON a.organization_id = :org AND a.connection_id = c.id "
        "WHERE c.organization_id = :org AND c.id = ? AND c.removed_at IS NULL"};
    return org.one(kFind, id);
}

std::optional<ProviderConnection> find_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kFind{
        "connections.find", kConnection,
        "SELECT {columns} FROM connections c WHERE c.organization_id = :org "
        "AND c.id = ? AND c.removed_at IS NULL"};
    return org.one(kFind, id);
}

std::optional<ProviderConnection> lock_connection(db::OrgStore& org, ConnectionId id) {
    static constexpr OrgSql kLock{
        "connections.lock", kConnection,
        "SELECT {columns} FROM connections c WHERE c.organization_id = :org "
        "AND c.id = ? AND c.removed_at IS NULL FOR UPDATE"};
    return org.one(kLock, id);
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
