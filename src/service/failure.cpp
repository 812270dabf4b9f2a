#include "service/failure.hpp"

#include "db/connection.hpp"

namespace muster::service {

bool is_passing_failure(const std::exception& error) {
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
    switch (failure->number()) {
        case 1049:  // unknown database
            return "there is no such database (database.name): run `musterctl db init`";
        case 1054:  // unknown column
        case 1146:  // no such table
            return "the schema is not this program's: see `musterctl db status`";
        case 1044:  // no right to the database
        case 1045:  // wrong password
        case 1698:  // not this Unix user
            return "the database refuses database.user: see its password and its rights, or let "
                   "`musterctl db init --root-socket SOCKET` make it, as root";
        case 1142:  // no right to change a table
            return "database.user may not change the schema: run `db init` and `db migrate` with "
                   "--root-socket SOCKET, as root";
        case 2002:  // nobody at the socket
        case 2003:  // nobody at the port
            return "the database does not answer: see database.url of the configuration";
        default:
            return error.what();
    }
}

DatabaseCost database_cost() {
    const db::Statistics& spent = db::statistics();
    return {spent.statements, spent.microseconds, spent.reruns};
}

void reset_database_cost() {
    db::statistics() = {};
}

}  // namespace muster::service
