// The database and its users, made by an administrator (musterctl db init --root-socket):
// statements that no server prepares, so names stand in their text, and are checked here.
#pragma once

#include "base/secret.hpp"
#include "rules/operations/schema_fit.hpp"
#include "store/operations/server.hpp"

#include <string>
#include <string_view>

namespace muster::store {

// [A-Za-z0-9_]+, as long as both engines allow a user's name to be.
[[nodiscard]] bool is_account_name(std::string_view text);
// Where a user may come from: a name, an address or a pattern of them ("%", "10.0.%").
[[nodiscard]] bool is_account_host(std::string_view text);

struct Account {
    std::string user;
    std::string host;
    bool requires_tls = false;
};

// How it proves who it is: what stands behind IDENTIFIED.
// By being the system user of the same name.
[[nodiscard]] std::string by_system_user(ServerKind kind);
// By a password. MariaDB gets its hash, because it would show a statement with the password itself
// to whoever may see its process list or general log; MySQL blots it out by itself.
[[nodiscard]] std::string by_password(ServerKind kind, const Secret& password);
// By a word in the password's place, which whoever runs the statement has to replace.
[[nodiscard]] std::string by_placeholder(std::string_view word);

// All throw std::invalid_argument for a name that is no is_account_name (is_account_host).
[[nodiscard]] std::string create_account_statement(const Account& account,
                                                   std::string_view identified);
// The same for one that is there.
[[nodiscard]] std::string alter_account_statement(const Account& account,
                                                  std::string_view identified);
// What the programs need every day, on this database alone.
[[nodiscard]] std::string grant_statement(const Account& account, std::string_view database);
// All else on this database. To be run behind the grant: servers refuse to take away from one that
// has nothing.
[[nodiscard]] std::string revoke_statement(ServerKind kind, const Account& account,
                                           std::string_view database);

// Whether the account may do more, anywhere on the server, than the two above leave it: what
// somebody gave it on all databases, on another one or by another pattern, or on a table. Roles are
// not seen.
[[nodiscard]] bool has_other_rights(db::Tx& tx, const Account& account, std::string_view database);

[[nodiscard]] std::string use_statement(std::string_view database);
// For a script: what a schema says of itself, unless it does already.
[[nodiscard]] std::string first_version_statement(const rules::SchemaRecord& schema, Timestamp now);

}  // namespace muster::store
