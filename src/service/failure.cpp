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

DatabaseCost database_cost() {
    const db::Statistics& spent = db::statistics();
    return {spent.statements, spent.microseconds, spent.reruns};
}

void reset_database_cost() {
    db::statistics() = {};
}

}  // namespace muster::service
