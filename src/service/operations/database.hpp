// The ways into the database: as the configuration's user, and as an administrator over its socket.
#pragma once

#include "base/settings/database.hpp"
#include "db/transaction.hpp"

#include <string>

namespace muster::service {

// As database.* says.
[[nodiscard]] db::ConnectionSettings connection_settings(const DatabaseSettings& settings);

// Who may make databases, users and tables: root over the database's Unix socket, where the system
// user of that name needs no password.
struct Administrator {
    std::string socket;
    std::string user = "root";
};
// To `database`, "" for none.
[[nodiscard]] db::ConnectionSettings connection_settings(const DatabaseSettings& settings,
                                                         const Administrator& administrator,
                                                         const std::string& database);
// Throws std::runtime_error with what to do when the server is away or does not let it in.
void expect_to_be_let_in(db::Database& database, const Administrator& administrator);

// The Unix socket of database.url, else Debian's: where the administrator is let in.
[[nodiscard]] std::string socket_of(const DatabaseSettings& settings);

}  // namespace muster::service
