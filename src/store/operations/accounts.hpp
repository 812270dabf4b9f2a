// The statements with which an administrator creates the database and its users (musterctl db init
// --root-socket). Servers do not prepare such statements, so names are part of the text and are
// checked here.
#pragma once

#include "base/secret.hpp"
#include "rules/operations/schema_fit.hpp"
#include "store/operations/server.hpp"

#include <string>
#include <string_view>

namespace muster::store {

// [A-Za-z0-9_]+, up to the length that both MariaDB and MySQL allow for a user's name.
[[nodiscard]] bool is_account_name(std::string_view text);
// The host of a user: a name, an address or a pattern ("%", "10.0.%").
[[nodiscard]] bool is_account_host(std::string_view text);

struct Account {
    std::string user;
    std::string host;
    bool requires_tls = false;
};

// These functions return the text after IDENTIFIED.
//
// Authentication as the system user of the same name.
[[nodiscard]] std::string by_system_user(ServerKind kind);
// Authentication by password. MariaDB gets the hash, because it shows the statement's text in its
// process list and general log. MySQL hides the password itself.
[[nodiscard]] std::string by_password(ServerKind kind, const Secret& password);
// A placeholder for the password, which the person who runs the statement must replace.
[[nodiscard]] std::string by_placeholder(std::string_view word);

// All throw std::invalid_argument for a name that is_account_name() or is_account_host() rejects.
[[nodiscard]] std::string create_account_statement(const Account& account,
                                                   std::string_view identified);
// The same for an existing user.
[[nodiscard]] std::string alter_account_statement(const Account& account,
                                                  std::string_view identified);
// The privileges that the programs need, on this database only.
[[nodiscard]] std::string grant_statement(const Account& account, std::string_view database);
// Revokes all other privileges on this database. Run it after the grant: servers reject a revoke
// for a user without privileges.
[[nodiscard]] std::string revoke_statement(ServerKind kind, const Account& account,
                                           std::string_view database);

// True if the account has more privileges on the server than the two statements leave: on all
// databases, on another database or pattern, or on a table. Does not see roles.
[[nodiscard]] bool has_other_rights(db::Tx& tx, const Account& account, std::string_view database);

[[nodiscard]] std::string use_statement(std::string_view database);
// For a script: inserts the schema's version unless the table has one.
[[nodiscard]] std::string first_version_statement(const rules::SchemaRecord& schema, Timestamp now);

}  // namespace muster::store
