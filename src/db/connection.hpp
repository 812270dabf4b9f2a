// One connection to the database, with its prepared statements. Only this file pair uses cppconn.
// Use it through db/transaction.hpp.
#pragma once

#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "db/error.hpp"
#include "db/sql.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::db {

// A bound value: NULL, an integer or bytes. It borrows the bytes, which must live until the
// statement has run.
class Param {
  public:
    enum class Kind : std::uint8_t { Null, Integer, Bytes };

    Param() = default;
    Param(std::nullopt_t) {}
    template <class Number>
    requires std::is_integral_v<Number> Param(Number value)
        : kind_(Kind::Integer), integer_(static_cast<std::int64_t>(value)) {}
    Param(std::string_view bytes) : kind_(Kind::Bytes), bytes_(bytes) {}
    Param(const std::string& bytes) : kind_(Kind::Bytes), bytes_(bytes) {}
    Param(const char* text) : kind_(Kind::Bytes), bytes_(text) {}
    template <Named Enum>
    Param(Enum value) : Param(text_of(value)) {}
    Param(const Uuid& id) : kind_(Kind::Bytes), bytes_(id.bytes()) {}
    template <class Tag>
    Param(const Id<Tag>& id) : kind_(Kind::Bytes), bytes_(id.bytes()) {}
    Param(Timestamp when) : Param(when.milliseconds()) {}
    template <class Value>
    Param(const std::optional<Value>& value) {
        if (value) *this = Param(*value);
    }
    // Stores "" as NULL.
    static Param text_or_null(std::string_view text) {
        return text.empty() ? Param() : Param(text);
    }

    Kind kind() const { return kind_; }
    std::int64_t integer() const { return integer_; }
    std::string_view bytes() const { return bytes_; }

  private:
    Kind kind_ = Kind::Null;
    std::int64_t integer_ = 0;
    std::string_view bytes_;
};

// A buffered result, read forward. Columns count from 1. Reading NULL throws DbError.
class Rows {
  public:
    explicit Rows(std::unique_ptr<class ResultSet> result);
    Rows(Rows&&) noexcept;
    ~Rows();

    bool next();
    bool is_null(unsigned column) const;
    std::int64_t integer(unsigned column) const;
    std::string bytes(unsigned column) const;

    Timestamp timestamp(unsigned column) const { return Timestamp(integer(column)); }
    template <class IdType>
    IdType id(unsigned column) const {
        return IdType(uuid(column));
    }

  private:
    // Throws DbError if the column is NULL. `value`: what it must have.
    void refuse_null(unsigned column, const char* value) const;
    Uuid uuid(unsigned column) const;
    std::unique_ptr<ResultSet> result_;
};

struct ConnectionSettings {
    // "unix:/run/mysqld/mysqld.sock" or "tcp://host:3306", tried in this order.
    std::vector<std::string> urls;
    std::string database;  // "" = none (for creating it)
    std::string user;
    Secret password;
    std::string tls_ca;  // a PEM file; "" = no TLS
    int connect_timeout_seconds = 5;
    int read_timeout_seconds = 60;
    int lock_timeout_seconds = 5;  // 0: no wait for a lock; MySQL waits for 1 second
    // A transaction does not run again after a lock timeout if it could then take longer than this.
    // nullopt: its number of runs is the only bound.
    std::optional<std::chrono::seconds> longest_lock_wait = {};
    // The server closes a connection that is idle for this time. A frozen program then loses its
    // transaction and its locks.
    int idle_timeout_seconds = 60;
};

// The cost of this thread's statements, for the log line of a request.
struct Statistics {
    int statements = 0;
    std::int64_t microseconds = 0;
    int reruns = 0;
    std::size_t bytes = 0;  // of the texts and blobs that were read
};
Statistics& statistics();

// Call it once in a program's main thread, before any other thread or connection exists.
void load_driver();

class Connection {
  public:
    // Throws DbError Gone if no server of the list accepts the connection.
    explicit Connection(const ConnectionSettings& settings);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Binds `org` to each `:org` and `params` to each `?` in order. `groups`: how often the {…}
    // group is repeated. execute() returns the number of changed rows as MySQL counts them: an
    // UPDATE to the same values counts 0.
    std::int64_t execute(const Sql& sql, const OrgId* org, std::span<const Param> params,
                         std::size_t groups = 1);
    Rows query(const Sql& sql, const OrgId* org, std::span<const Param> params,
               std::size_t groups = 1);

    // Runs the text unchanged, without parameters: transactions, schema files. Returns the number
    // of changed rows.
    std::int64_t run(std::string_view statement);
    void commit();
    // Returns false if it failed: the transaction may be open until the connection ends.
    [[nodiscard]] bool rollback() noexcept;
    // Sends a ping to the server.
    bool is_alive() noexcept;

  private:
    // Waits until this Galera node has applied all transactions that were acknowledged before. A
    // client that comes from a failed node then reads all its acknowledged writes.
    void catch_up();

    struct Prepared;
    Prepared& prepared(const Sql& sql, std::size_t groups);
    class LargeValues;
    void bind(Prepared& statement, const OrgId* org, std::span<const Param> params,
              LargeValues& large);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::db
