// Database errors, classified by how the caller can react.
#pragma once

#include <stdexcept>
#include <string>

namespace muster::db {

// The server's errors by name (server_errors.def).
enum class ServerError : int {
#define SERVER_ERROR(name, number, kind) name = (number),
#include "db/server_errors.def"
#undef SERVER_ERROR
};

class DbError : public std::runtime_error {
  public:
    enum class Kind {
        Duplicate,    // a unique key exists already
        Deadlock,     // the whole transaction was rolled back: run it again
        LockTimeout,  // a lock wait timed out: roll back and run it again
        Gone,         // the connection is lost, or another one may work
        BadData,      // the values of a row cannot be stored (too long, constraint, trigger)
        Other,
    };
    DbError(Kind kind, int number, const std::string& text)
        : std::runtime_error(text), kind_(kind), number_(number) {}
    Kind kind() const { return kind_; }
    // MySQL's error number.
    int number() const { return number_; }
    // The same by name. A number without a name equals no enumerator.
    ServerError server_error() const { return static_cast<ServerError>(number_); }

  private:
    Kind kind_;
    int number_;
};

// The kind of a server error number; Other if it is not listed.
DbError::Kind kind_of_error(int number);

}  // namespace muster::db
