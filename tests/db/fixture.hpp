// Shared by the database tests: the server behind MUSTER_TEST_SOCKET (user root without a password,
// or MUSTER_TEST_USER), a schema that main.cpp creates once in its own database, and a fixture that
// starts with empty tables.
#pragma once

#include "base/error.hpp"
#include "base/settings.hpp"
#include "db/transaction.hpp"
#include "service/context.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::test {

// Throws std::runtime_error if MUSTER_TEST_SOCKET is not set.
const Settings& settings();
db::ConnectionSettings connection_settings();
// The same, with lock waits of at most a second.
db::ConnectionSettings short_lock_timeout();
// The folder that contains src/ and sql/.
std::string source_root();

// Polls `condition`; false if it is still false after ten seconds.
[[nodiscard]] bool until(const std::function<bool()>& condition);

// Runs work(0) … work(count - 1) in parallel, each in its own thread, and rethrows an exception of
// a thread. Boost's checks are not thread-safe.
void in_parallel(int count, const std::function<void(int)>& work);

// The id of a transaction's session, for Client::kill().
std::int64_t session_of(db::Tx& tx);

// Runs `call`; returns the kind of the DbError that it threw, or nullopt.
template <class Call>
std::optional<db::DbError::Kind> kind_of(Call&& call) {
    try {
        call();
    } catch (const db::DbError& error) {
        return error.kind();
    }
    return std::nullopt;
}

// The same for the error that the API would return.
template <class Call>
std::optional<Error> error_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return std::nullopt;
}
template <class Call>
std::optional<ErrorCode> code_of(Call&& call) {
    const auto error = error_of(call);
    return error ? std::optional(error->code()) : std::nullopt;
}

// A connection that runs statements as text, to inspect the tables independently of the tested
// code.
class Client {
  public:
    explicit Client(const db::ConnectionSettings& settings = connection_settings())
        : connection_(settings) {}

    template <class... Params>
    std::int64_t execute(std::string_view text, const Params&... params) {
        const std::vector<db::Param> bound{db::Param(params)...};
        return connection_.execute(statement(text), nullptr, bound);
    }
    template <class... Params>
    db::Rows query(std::string_view text, const Params&... params) {
        const std::vector<db::Param> bound{db::Param(params)...};
        return connection_.query(statement(text), nullptr, bound);
    }
    // The first column, NULL as "NULL".
    template <class... Params>
    std::vector<std::string> column(std::string_view text, const Params&... params) {
        std::vector<std::string> cells;
        for (auto rows = query(text, params...); rows.next();) {
            cells.push_back(rows.is_null(1) ? "NULL" : rows.bytes(1));
        }
        return cells;
    }
    // The only cell of the only row.
    template <class... Params>
    std::string value(std::string_view text, const Params&... params) {
        return column(text, params...).at(0);
    }
    template <class... Params>
    std::int64_t number(std::string_view text, const Params&... params) {
        return std::stoll(value(text, params...));
    }
    void run(std::string_view text) { connection_.run(text); }
    db::Connection& connection() { return connection_; }
    std::int64_t id() { return number("SELECT CONNECTION_ID()"); }

    // Kills another connection and waits until the server has closed it.
    void kill(std::int64_t connection_id);
    // Whether so many transactions are waiting for a row lock now.
    bool has_lock_wait(int count = 1);

    // The pages that a table reserves, free ones of its segments included, in bytes.
    std::int64_t bytes_of(const std::string& table);
    // Tables with an organization_id.
    std::vector<std::string> tenant_tables();
    // Everything stored for an organization: one digest per tenant table, "" if the table has no
    // row. Equal as long as the rows are unchanged.
    std::map<std::string, std::string> snapshot(OrgId organization);

  private:
    const db::Sql& statement(std::string_view text);

    db::Connection connection_;
    std::map<std::string, db::Sql, std::less<>> statements_;  // caches use its address as a key
};

// A table of the numbers 1 … count with the column `seq`, for use after FROM. MariaDB and MySQL
// have different syntax for it.
std::string sequence(int count);

// How many entries of tables and indexes the statements of this session have read so far (its
// counters Handler_read_…). Counters whose name contains `without` are excluded ("rnd": mostly
// reads of temporary tables).
std::int64_t entries_read(db::Tx& tx, std::string_view without = "none");

// Changes the schema during its lifetime.
class SchemaChange {
  public:
    SchemaChange(Client& client, std::string_view change, std::string_view back)
        : client_(client), back_(back) {
        client_.run(change);
    }
    ~SchemaChange() { client_.run(back_); }
    SchemaChange(const SchemaChange&) = delete;
    SchemaChange& operator=(const SchemaChange&) = delete;

  private:
    Client& client_;
    std::string back_;
};

// The database and the context of a worker or a runner. One per thread.
struct DatabaseContext {
    explicit DatabaseContext(const db::ConnectionSettings& with = connection_settings());

    // Runs `work(OrgTransaction&)` in a transaction of that organization.
    template <class Work>
    auto as(OrgId organization, const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {organization}, Timestamp::now()};
            return work(transaction);
        });
    }

    db::Database database;
    service::Context context;
};

// The fixture: all tables are empty.
struct Fixture : DatabaseContext {
    Fixture();
    // A new one, with the starter attributes, disabled.
    OrgId organization(std::string_view name = "Acme");
    // A published module with that slug, installed and enabled.
    InstallationId install(OrgId organization, std::string_view slug = "shop");

    // The result of `call`, which runs in a thread and waits for the transaction of these changes
    // by `client`. Throws std::runtime_error if it does not wait.
    template <class Call>
    auto result_after(const std::function<void()>& changes, Call call) {
        client.run("START TRANSACTION");
        changes();
        auto running = std::async(std::launch::async, std::move(call));
        Client observer;
        const bool waits = until([&] { return observer.has_lock_wait(); });
        client.run("COMMIT");
        auto result = running.get();
        if (!waits) throw std::runtime_error("the call did not wait for the changes");
        return result;
    }

    // The same while `client` holds service::lock_counts(), after `changes`.
    template <class Call>
    auto result_after_count(OrgId locked, const std::function<void()>& changes, Call call) {
        const auto lock_and_change = [&] {
            lock_counts(locked);
            changes();
        };
        return result_after(lock_and_change, std::move(call));
    }

    Client client;

  private:
    void lock_counts(OrgId locked);
};

}  // namespace muster::test
