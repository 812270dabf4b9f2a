// The first run: the database, the user that the programs are every day, and the schema, made by
// the database's administrator; or the statements for one who does that by hand
// (docs/operations/database.md "Database").
#pragma once

#include "service/context.hpp"
#include "service/operations/database.hpp"

#include <string>
#include <vector>

namespace muster::service {

struct Installed {
    bool schema_made = false;           // false: it stood already
    std::vector<std::string> accounts;  // "muster@localhost"
    // Those of them that may do more elsewhere, which somebody else gave them and which they keep.
    std::vector<std::string> with_other_rights;
};

// Makes all of it as `administrator`, from settings.database and settings.files.sql. What is
// there already is brought to the same state, tables excepted; broken off, it is run again.
// `client_host`: where the programs come from when database.url leads over a network, "" for
// anywhere. Throws std::runtime_error or std::invalid_argument for a configuration that cannot be
// made so, before anything is changed, and DbError; none holds the password.
Installed install_database(const Context& context, const Administrator& administrator,
                           const std::string& client_host);

// The same as statements for MariaDB's client, with those of MySQL as comments and a placeholder in
// the password's place. Asks no database.
std::string installation_script(const Settings& settings, const std::string& client_host);

}  // namespace muster::service
