// Connections to the database: as the configured user, and as an administrator over the Unix
// socket.
#pragma once

#include "base/settings/database.hpp"
#include "db/transaction.hpp"

#include <string>

namespace muster::service {

// The settings database.*.
[[nodiscard]] db::ConnectionSettings connection_settings(const DatabaseSettings& settings);

// An account that may create databases, users and tables: by default root over the database's Unix
// socket, where the system user of the same name needs no password.
struct Administrator {
    std::string socket;
    std::string user = "root";
};
// Connects to `database`; "" for no default database.
[[nodiscard]] db::ConnectionSettings connection_settings(const DatabaseSettings& settings,
                                                         const Administrator& administrator,
                                                         const std::string& database);
// Throws std::runtime_error with an instruction if the server does not answer or rejects the
// administrator.
void check_access(db::Database& database, const Administrator& administrator);

// The Unix socket of database.url, or else Debian's default.
[[nodiscard]] std::string socket_of(const DatabaseSettings& settings);

}  // namespace muster::service
