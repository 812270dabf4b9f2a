#include "service/operations/database.hpp"

#include "base/text.hpp"

#include <stdexcept>

namespace muster::service {
namespace {

constexpr std::string_view kUnix = "unix:";

}  // namespace

db::ConnectionSettings connection_settings(const DatabaseSettings& settings) {
    db::ConnectionSettings connection;
    for (const std::string_view url : split(settings.url, ',')) {
        connection.urls.emplace_back(trimmed_ascii(url));
    }
    connection.database = settings.name;
    connection.user = settings.user;
    connection.password = settings.password;
    connection.tls_ca = settings.tls_ca;
    connection.connect_timeout_seconds = settings.connect_timeout;
    connection.read_timeout_seconds = settings.read_timeout;
    connection.idle_timeout_seconds = settings.idle_timeout;
    return connection;
}

db::ConnectionSettings connection_settings(const DatabaseSettings& settings,
                                           const Administrator& administrator,
                                           const std::string& database) {
    db::ConnectionSettings connection = connection_settings(settings);
    connection.urls = {std::string(kUnix) + administrator.socket};
    connection.database = database;
    connection.user = administrator.user;
    connection.password = Secret();
    connection.tls_ca.clear();
    return connection;
}

void check_access(db::Database& database, const Administrator& administrator) {
    try {
        database.run("DO 0");
    } catch (const db::DbError& error) {
        if (error.server_error() == db::ServerError::NoServerAtSocket) {
            throw std::runtime_error("no database answers at " + administrator.socket);
        }
        if (error.server_error() == db::ServerError::AccessDenied ||
            error.server_error() == db::ServerError::WrongSystemUser) {
            throw std::runtime_error(
                "access denied for the database user " + administrator.user + " at " +
                administrator.socket +
                ": run this command as the system user of the same name (sudo)");
        }
        throw;
    }
}

std::string socket_of(const DatabaseSettings& settings) {
    for (const std::string& url : connection_settings(settings).urls) {
        if (url.starts_with(kUnix)) return url.substr(kUnix.size());
    }
    return "/run/mysqld/mysqld.sock";
}

}  // namespace muster::service
