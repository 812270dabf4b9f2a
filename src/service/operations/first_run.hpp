// The first run: creates the database, the programs' user and the schema as the database's
// administrator, or prints the statements for running them by hand (docs/operations/database.md
// "Database").
#pragma once

#include "service/context.hpp"
#include "service/operations/database.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct Installed {
    bool schema_made = false;  // false: the schema existed already
    // Of a schema that existed: those that were missing or not this administrator's.
    std::vector<std::string> triggers_made;
    std::vector<std::string> accounts;  // "muster@localhost"
    // The accounts with privileges outside this database. They keep them.
    std::vector<std::string> with_other_rights;
};

// Creates the database, accounts and schema as `administrator`, from settings.database and
// settings.files.sql. Existing objects except tables are brought to the same state; after an
// interruption, run it again. `client_host`: the host of the programs if database.url uses a
// network, "" for any host. Throws std::runtime_error or std::invalid_argument for an unsuitable
// configuration before anything is changed, and DbError. No exception contains the password.
Installed install_database(const Context& context, const Administrator& administrator,
                           const std::string& client_host);

// SQL statements for MariaDB's client that create the database, its accounts and the schema, with
// the statements for MySQL in comments and a placeholder for the password. They do not change the
// password and rights of existing accounts, as install_database() does. Uses no database.
std::string installation_script(const Settings& settings, const std::string& client_host);

}  // namespace muster::service
