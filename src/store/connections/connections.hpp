// Connections to providers of external data. Excludes removed connections, which are kept only
// until their tokens are revoked.
#pragma once

#include "db/transaction.hpp"
#include "rules/connections/connection.hpp"

#include <optional>
#include <vector>

namespace muster::store {

struct ListedConnection {
    rules::ProviderConnection connection;
    std::optional<Timestamp> authorization_expires_at;  // nullopt: none is pending
};

// The number of connections of the organization, whose rows are locked: another count waits until
// the transaction ends.
std::int64_t lock_and_count_connections(db::OrgStore& org);
void insert_connection(db::OrgStore& org, const rules::ProviderConnection& connection);
// Oldest first.
std::vector<ListedConnection> list_connections(db::OrgStore& org);
std::optional<ListedConnection> find_listed_connection(db::OrgStore& org, ConnectionId id);
std::optional<rules::ProviderConnection> find_connection(db::OrgStore& org, ConnectionId id);
// Locked until the transaction ends.
std::optional<rules::ProviderConnection> lock_connection(db::OrgStore& org, ConnectionId id);
// Writes status, error and updated_at of a locked connection.
void set_connection_status(db::OrgStore& org, const rules::ProviderConnection& connection);
// Writes name, host and updated_at of a locked connection.
void rename_connection(db::OrgStore& org, const rules::ProviderConnection& connection);

}  // namespace muster::store
