// Connections to providers of external data. Those that were removed, and are kept until their
// tokens are given back, are nowhere here.
#pragma once

#include "db/transaction.hpp"
#include "rules/connections/connection.hpp"

#include <optional>
#include <vector>

namespace muster::store {

struct ListedConnection {
    rules::ProviderConnection connection;
    std::optional<Timestamp> authorization_expires_at;  // nullopt: no admin is on the way
};

// How many the organization has; nobody adds one until the transaction ends.
std::int64_t count_connections_for_adding(db::OrgStore& org);
void insert_connection(db::OrgStore& org, const rules::ProviderConnection& connection);
// Oldest first.
std::vector<ListedConnection> list_connections(db::OrgStore& org);
std::optional<rules::ProviderConnection> find_connection(db::OrgStore& org, ConnectionId id);
// Locked until the transaction ends.
std::optional<rules::ProviderConnection> lock_connection(db::OrgStore& org, ConnectionId id);
// Writes status, error and updated_at of a locked connection.
void set_connection_status(db::OrgStore& org, const rules::ProviderConnection& connection);
// Writes name, host and updated_at of a locked connection.
void rename_connection(db::OrgStore& org, const rules::ProviderConnection& connection);

}  // namespace muster::store
