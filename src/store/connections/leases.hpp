// The tokens of connections and the leases on them. A lease prevents two processes from calling a
// provider for the same connection. The generation of the tokens prevents old tokens from
// overwriting newer ones (service/connections/tokens.hpp).
#pragma once

#include "db/transaction.hpp"
#include "rules/connections/connection.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Takes the lease. False if a lease is held.
[[nodiscard]] bool claim_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner,
                                    Timestamp now, Timestamp until);

// Stores new tokens: the connection's tokens, the host that issued them, details,
// access_expires_at, refresh_due_at, refreshed_at and updated_at. Sets the status to connected,
// ends the lease and increments the generation. False if the generation is not `generation`.
[[nodiscard]] bool write_tokens(db::OrgStore& org, const rules::ProviderConnection& connection,
                                std::int64_t generation);
// Stores a failed refresh: status, error, refresh_attempts, refresh_due_at and updated_at. False,
// without any change, if the owner lost the lease or the tokens have changed.
[[nodiscard]] bool write_refresh_failure(db::OrgStore& org,
                                         const rules::ProviderConnection& connection,
                                         const Uuid& owner);
// Ends the owner's lease and makes the connection due at `due`.
void postpone_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner,
                         std::int64_t attempts, Timestamp due);
// Makes the connection due now, unless a lease is held.
void make_connection_due(db::OrgStore& org, ConnectionId id, Timestamp now);

// Hides the connection and makes it due for the revocation of its tokens.
void mark_connection_removed(db::OrgStore& org, ConnectionId id, Timestamp now);
// False if the generation is not `generation`: newer tokens were written, and must be revoked too.
bool delete_connection(db::OrgStore& org, ConnectionId id, std::int64_t generation);

struct RemovedConnection {
    ConnectionId id;
    std::string provider;
    std::string host;
    std::string tokens;  // sealed
    std::int64_t token_generation = 0;
    std::int64_t attempts = 0;
    std::optional<Timestamp> due_at;
    Timestamp removed_at;
};
// Locked until the transaction ends.
std::optional<RemovedConnection> lock_removed_connection(db::OrgStore& org, ConnectionId id);

struct DueConnection {
    OrgId organization;
    ConnectionId id;
    std::string provider;
    bool is_removed = false;
};
inline constexpr std::size_t kMostExcludedProviders = 16;
// Due connections without a live lease, the longest due first. Excludes the providers in
// `excluded`, of which only the first kMostExcludedProviders are used.
std::vector<DueConnection> find_due_connections(db::Tx& tx, Timestamp now,
                                                std::span<const std::string_view> excluded,
                                                int limit);

struct ConnectionCount {
    rules::ConnectionStatus status;
    std::int64_t connections = 0;
};
// For all organizations, without removed connections. A status without connections is missing.
std::vector<ConnectionCount> count_connections_by_status(db::Tx& tx);
// The earliest due time of all connections.
std::optional<Timestamp> first_connection_due(db::Tx& tx);

}  // namespace muster::store
