#include "service/operations/first_run.hpp"

#include "base/settings.hpp"
#include "service/operations/schema.hpp"
#include "service/operations/triggers.hpp"
#include "store/operations/accounts.hpp"
#include "store/operations/schema.hpp"
#include "store/operations/server.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace muster::service {
namespace {

using store::Account;
using store::ServerKind;

constexpr std::string_view kPlaceholder = "PUT-THE-PASSWORD-HERE";
// Administrators of a server, whose accounts must not be changed.
constexpr std::array<std::string_view, 3> kAdministrators = {"root", "mysql", "mariadb"};

constexpr std::string_view kPluginAdvice =
    ": MySQL authenticates system users with its plugin auth_socket, which is not active. As root, run INSTALL PLUGIN "
    "auth_socket SONAME 'auth_socket.so' in MySQL and this command again, or set database.password";

// The accounts needed: one for Unix sockets, one for network addresses in database.url.
std::vector<Account> accounts_of(const Settings& settings, const std::string& client_host) {
    const auto urls = connection_settings(settings.database).urls;
    const auto is_unix = [](const std::string& url) { return url.starts_with("unix:"); };
    const bool is_local = std::all_of(urls.begin(), urls.end(), is_unix);
    if (is_local && !client_host.empty()) {
        throw std::runtime_error("the client host is \"" + client_host +
                                 "\", but database.url uses only Unix sockets: leave out "
                                 "--client-host, or set database.url to a network address");
    }
    std::vector<Account> accounts;
    if (std::any_of(urls.begin(), urls.end(), is_unix)) {
        accounts.push_back({settings.database.user, "localhost"});
    }
    if (!is_local) {
        if (settings.database.password.empty()) {
            throw std::runtime_error(
                "database.url uses a network address and database.password is empty: set database.password");
        }
        accounts.push_back({settings.database.user, client_host.empty() ? "%" : client_host,
                            !settings.database.tls_ca.empty()});
    }
    return accounts;
}

// Validates all values that the statements contain.
std::vector<Account> checked_accounts(const Settings& settings, const std::string& client_host,
                                      std::string_view administrator) {
    const std::string& user = settings.database.user;
    if (std::count(kAdministrators.begin(), kAdministrators.end(), user) > 0 ||
        user == administrator) {
        throw std::runtime_error("database.user is " + user +
                                 ", an administrator of the database: set another user name");
    }
    auto accounts = accounts_of(settings, client_host);
    for (const Account& account : accounts) {
        static_cast<void>(store::grant_statement(account, settings.database.name));
    }
    return accounts;
}

// Drops the server's error message: it may contain the statement, and thereby the password.
void run_account_statement(db::Tx& tx, const std::string& statement, const Account& account) {
    try {
        tx.run(statement);
    } catch (const db::DbError& error) {
        const std::string reason =
            error.server_error() == db::ServerError::PluginNotLoaded
                ? std::string(kPluginAdvice)
                : ": server error " + std::to_string(error.number()) +
                      "; check that the administrator may create and alter users, then run the command again";
        throw db::DbError(error.kind(), error.number(),
                          "cannot create or alter the database user " + account.user + "@" +
                              account.host + reason);
    }
}

void make_account(db::Tx& tx, ServerKind kind, const Account& account, const Settings& settings) {
    const Secret& password = settings.database.password;
    const std::string identified =
        password.empty() ? store::by_system_user(kind) : store::by_password(kind, password);
    run_account_statement(tx, store::create_account_statement(account, identified), account);
    run_account_statement(tx, store::alter_account_statement(account, identified), account);
    tx.run(store::grant_statement(account, settings.database.name));
    tx.run(store::revoke_statement(kind, account, settings.database.name));
}

std::string account_script(const Account& account, const Settings& settings) {
    const auto made_on = [&](ServerKind kind) {
        return store::create_account_statement(account, settings.database.password.empty()
                                                            ? store::by_system_user(kind)
                                                            : store::by_placeholder(kPlaceholder)) +
               ";\n";
    };
    std::string text;
    if (settings.database.password.empty()) {
        text += made_on(ServerKind::MariaDb) +
                "-- On MySQL, with its plugin auth_socket, use this instead:\n-- " +
                made_on(ServerKind::MySql);
    } else {
        text += "-- Replace the placeholder with database.password of muster.conf: " +
                std::string(kPlaceholder) + ".\n" + made_on(ServerKind::MariaDb);
    }
    return text + store::grant_statement(account, settings.database.name) + ";\n";
}

// A statement for the programs mariadb and mysql, which otherwise end it at its first semicolon.
std::string for_client(const std::string& statement) {
    const std::size_t last = statement.rfind(';');
    if (statement.find(';') == last) return statement;
    return "DELIMITER //\n" + statement.substr(0, last) + "\n//\nDELIMITER ;\n";
}

}  // namespace

Installed install_database(const Context& context, const Administrator& administrator,
                           const std::string& client_host) {
    const Settings& settings = context.settings;
    const auto accounts = checked_accounts(settings, client_host, administrator.user);
    static_cast<void>(schema_file(settings));  // fails early if the file is missing
    db::Database nameless(connection_settings(settings.database, administrator, ""));
    check_access(nameless, administrator);
    nameless.run(store::create_database_statement(settings.database.name));
    Installed installed;
    nameless.autocommit([&](db::Tx& tx) {
        const ServerKind kind = store::describe_server(tx).kind;
        installed.accounts.clear();
        installed.with_other_rights.clear();
        for (const Account& account : accounts) {
            make_account(tx, kind, account, settings);
            const std::string name = account.user + "@" + account.host;
            installed.accounts.push_back(name);
            if (store::has_other_rights(tx, account, settings.database.name)) {
                installed.with_other_rights.push_back(name);
            }
        }
    });
    db::Database database(
        connection_settings(settings.database, administrator, settings.database.name));
    installed.schema_made = make_schema(database, settings);
    if (!installed.schema_made) installed.triggers_made = restore_triggers(database, settings);
    return installed;
}

std::string installation_script(const Settings& settings, const std::string& client_host) {
    const auto accounts = checked_accounts(settings, client_host, "");
    std::string text =
        "-- Creates Muster's database. Run it as an administrator of a MariaDB or MySQL server.\n"
        "-- Existing objects are not changed; for an older schema, run `musterctl db migrate`.\n\n" +
        store::create_database_statement(settings.database.name) + ";\n\n";
    for (const Account& account : accounts) text += account_script(account, settings) + "\n";
    text += store::use_statement(settings.database.name) + ";\n\n";
    const SchemaFile file = schema_file(settings);
    for (const std::string& statement : file.statements) text += for_client(statement) + "\n";
    return text + store::first_version_statement(file.makes, Timestamp::now()) + ";\n";
}

}  // namespace muster::service
