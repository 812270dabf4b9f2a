// The database server: its version, this connection, and the privileges of its user.
#pragma once

#include "db/transaction.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace muster::store {

enum class ServerKind : std::uint8_t { MariaDb, MySql };

struct ServerReport {
    ServerKind kind = ServerKind::MariaDb;
    std::string version;  // "10.11.6-MariaDB-1"
    std::string cipher;   // of this connection's TLS; "" = none
};
ServerReport describe_server(db::Tx& tx);
// The server's global values for `rules::kCheckedSettings`, without those that it does not have.
std::map<std::string, std::string, std::less<>> server_settings(db::Tx& tx);
// The time of the server's clock.
Timestamp server_time(db::Tx& tx);
// True if this connection's user may change the tables of its database. Does not see privileges
// that come from a role.
bool may_change_schema(db::Tx& tx);
// The id of the connection with the oldest transaction, other than this one. nullopt if there is
// none or the user may not see it.
std::optional<std::int64_t> oldest_transaction(db::Tx& tx);

}  // namespace muster::store
