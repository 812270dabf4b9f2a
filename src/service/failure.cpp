#include "service/failure.hpp"

#include "db/connection.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace muster::service {

namespace {

// Whether the server denied one of the four commands that the programs themselves need.
bool lacks_data_privilege(std::string_view message) {
    constexpr std::array kCommands = {"SELECT", "INSERT", "UPDATE", "DELETE"};
    return std::any_of(kCommands.begin(), kCommands.end(), [&](const char* command) {
        return message.find(command + std::string(" command denied")) != std::string_view::npos;
    });
}

// The same error number has other options that prevent a statement.
bool is_about_read_only(std::string_view message) {
    return message.find("read-only") != std::string_view::npos ||
           message.find("read only") != std::string_view::npos ||
           message.find("read_only") != std::string_view::npos;
}

}  // namespace

bool is_transient_failure(const std::exception& error) {
    const auto* failure = dynamic_cast<const db::DbError*>(&error);
    if (!failure) return false;
    switch (failure->kind()) {
        case db::DbError::Kind::Gone:
        case db::DbError::Kind::Deadlock:
        case db::DbError::Kind::LockTimeout:
            return true;
        case db::DbError::Kind::Duplicate:
        case db::DbError::Kind::BadData:
        case db::DbError::Kind::Other:
            return false;
    }
    return false;
}

std::string explained(const std::exception& error) {
    const auto* failure = dynamic_cast<const db::DbError*>(&error);
    if (!failure) return error.what();
    switch (failure->server_error()) {
        case db::ServerError::UnknownDatabase:
            return "the database in database.name does not exist: run `musterctl db init`";
        case db::ServerError::UnknownColumn:
        case db::ServerError::NoSuchIndex:
        case db::ServerError::NoSuchTable:
            return "the schema does not match this program: see `musterctl db status`";
        case db::ServerError::DatabaseAccessDenied:
            return "access denied for database.user: it has no grants in the database, or database.name is wrong; "
                   "check both, or create them as root with `musterctl db init --root-socket SOCKET`";
        case db::ServerError::AccessDenied:
        case db::ServerError::WrongSystemUser:
            return "access denied for database.user: check its password and grants, or create it as root with "
                   "`musterctl db init --root-socket SOCKET`";
        case db::ServerError::TableAccessDenied:
            return lacks_data_privilege(failure->what())
                       ? "database.user lacks a privilege (" + std::string(failure->what()) +
                             "): grant it as root with `musterctl db init --root-socket SOCKET`"
                       : "database.user may not change the schema: run `db init` and `db migrate` with "
                         "--root-socket SOCKET, as root";
        case db::ServerError::NoServerAtSocket:
        case db::ServerError::NoServerAtPort:
            return "the database does not answer: check database.url in the configuration";
        case db::ServerError::OptionPreventsStatement:
        case db::ServerError::ReadOnlyMode:
            return is_about_read_only(failure->what())
                       ? "the database server is read-only (" + std::string(failure->what()) +
                             "): name a server that can be written in database.url, or set read_only = OFF"
                       : failure->what();
        default:
            return error.what();
    }
}

DatabaseCost database_cost() {
    const db::Statistics& spent = db::statistics();
    return {spent.statements, spent.microseconds, spent.reruns, spent.bytes};
}

void reset_database_cost() {
    db::statistics() = {};
}

}  // namespace muster::service
