// The tokens of connections, and who is working on them: a lease keeps two runners from calling a
// provider for one connection, the generation of the tokens keeps old ones from overwriting newer
// ones (service/connections/tokens.hpp).
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

// Takes the lease, if nobody has it.
[[nodiscard]] bool claim_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner,
                                    Timestamp now, Timestamp until);

// What just came from the provider: of the connection its id, tokens, the host that gave them,
// details, access_expires_at, refresh_due_at, refreshed_at and updated_at. It is connected then,
// under nobody's lease, and its generation is one more. `generation`: what it must be now; false
// where it is not.
[[nodiscard]] bool write_tokens(db::OrgStore& org, const rules::ProviderConnection& connection,
                                std::int64_t generation);
// That a refresh failed, or that there was none to be had: status, error, refresh_attempts,
// refresh_due_at and updated_at. False, and nothing happens, where the lease is no longer the
// owner's or the tokens are others by now.
[[nodiscard]] bool write_refresh_failure(db::OrgStore& org,
                                         const rules::ProviderConnection& connection,
                                         const Uuid& owner);
// Gives the lease back, if it is the owner's: there is something to do again at `due`.
void postpone_connection(db::OrgStore& org, ConnectionId id, const Uuid& owner,
                         std::int64_t attempts, Timestamp due);
// Something is to be done now, unless somebody is at it.
void make_connection_due(db::OrgStore& org, ConnectionId id, Timestamp now);

// From now on it is nowhere to be seen, and its tokens are to be given back.
void mark_connection_removed(db::OrgStore& org, ConnectionId id, Timestamp now);
void delete_connection(db::OrgStore& org, ConnectionId id);

struct RemovedConnection {
    ConnectionId id;
    std::string provider;
    std::string host;
    std::string tokens;  // sealed
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
inline constexpr std::size_t kMostProvidersLeftOut = 16;
// With something to do, under no live lease, the longest due first; none of the providers in
// `without`, of which no more than kMostProvidersLeftOut count.
std::vector<DueConnection> find_due_connections(db::Tx& tx, Timestamp now,
                                                std::span<const std::string_view> without,
                                                int limit);

struct ConnectionCount {
    rules::ConnectionStatus status;
    std::int64_t connections = 0;
};
// Of all organizations, those that were removed left out; a status without any is missing.
std::vector<ConnectionCount> count_connections_by_status(db::Tx& tx);
// When the one that waits longest, or will be the first to, is due.
std::optional<Timestamp> first_connection_due(db::Tx& tx);

}  // namespace muster::store
