// The database server itself: what it is, how this connection reaches it, what its user may.
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
    std::string cipher;   // of the connection's TLS; "" = none
};
ServerReport describe_server(db::Tx& tx);
// Its settings for all sessions, those of `rules::kCheckedSettings` that it has.
std::map<std::string, std::string, std::less<>> server_settings(db::Tx& tx);
// By its own clock.
Timestamp server_time(db::Tx& tx);
// Whether this connection's user may change the tables of its database. One that may by a role
// alone counts as one that may not.
bool may_change_schema(db::Tx& tx);
// The connection, besides this one, whose transaction is the server's oldest. nullopt: there is
// none, or this connection's user may not know.
std::optional<std::int64_t> oldest_transaction(db::Tx& tx);

}  // namespace muster::store
