// Transactions: Database opens one, runs a closure in it, commits, and runs the WHOLE closure again
// when InnoDB gave up on it. Tx runs statements of no tenant; OrgStore binds the tenant to all
// others.
#pragma once

#include "db/connection.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace muster::db {

// A running transaction (or, in Database::autocommit, a session without one).
class Tx {
  public:
    explicit Tx(Connection& connection) : connection_(connection) {}
    Tx(const Tx&) = delete;
    Tx& operator=(const Tx&) = delete;

    template <class... Params>
    std::int64_t execute(const SystemSql& sql, const Params&... params) {
        const std::array<Param, sizeof...(Params)> bound{Param(params)...};
        return connection_.execute(sql, nullptr, bound);
    }
    template <class... Params>
    Rows query(const SystemSql& sql, const Params&... params) {
        const std::array<Param, sizeof...(Params)> bound{Param(params)...};
        return connection_.query(sql, nullptr, bound);
    }
    // `params`: those of all groups, in the order of the statement.
    std::int64_t execute_bulk(const SystemSql& sql, std::size_t groups,
                              std::span<const Param> params) {
        return connection_.execute(sql, nullptr, params, groups);
    }
    Rows query_bulk(const SystemSql& sql, std::size_t groups, std::span<const Param> params) {
        return connection_.query(sql, nullptr, params, groups);
    }

    // A schema file's statement as it stands. The number of rows changed.
    std::int64_t run(std::string_view statement) { return connection_.run(statement); }

    // Runs `step`; if it throws DbError BadData, its changes are undone and false comes back. The
    // rest of the transaction stands.
    bool attempt(const std::function<void()>& step);

    // Runs `step`; if it says false, its changes are undone and false comes back. The rest of the
    // transaction stands. What it throws undoes everything.
    bool attempt_or_undo(const std::function<bool()>& step);

  private:
    friend class OrgStore;
    Connection& connection_;
};

// One tenant's view of a transaction.
class OrgStore {
  public:
    OrgStore(Tx& tx, OrgId org) : connection_(tx.connection_), org_(org) {}

    const OrgId& org() const { return org_; }

    template <class... Params>
    std::int64_t execute(const OrgSql& sql, const Params&... params) {
        const std::array<Param, sizeof...(Params)> bound{Param(params)...};
        return connection_.execute(sql, &org_, bound);
    }
    template <class... Params>
    Rows query(const OrgSql& sql, const Params&... params) {
        const std::array<Param, sizeof...(Params)> bound{Param(params)...};
        return connection_.query(sql, &org_, bound);
    }
    std::int64_t execute_bulk(const OrgSql& sql, std::size_t groups,
                              std::span<const Param> params) {
        return connection_.execute(sql, &org_, params, groups);
    }
    Rows query_bulk(const OrgSql& sql, std::size_t groups, std::span<const Param> params) {
        return connection_.query(sql, &org_, params, groups);
    }

  private:
    Connection& connection_;
    OrgId org_;
};

// Whether who waited for a lock in vain waits again.
enum class LockWaits : std::uint8_t { Again, Once };

// A source of transactions over one connection, opened when first needed and again after it was
// lost. For one thread.
class Database {
  public:
    explicit Database(ConnectionSettings settings) : settings_(std::move(settings)) {}

    // Runs `fn(Tx&)` and commits. Deadlock, LockTimeout and a racing Duplicate (RetryTransaction)
    // run all of it again, at most kAttempts times, with a growing jittered pause; so does one lost
    // connection, unless the COMMIT was already sent. Everything else rolls back and is thrown on;
    // so is LockTimeout where `waits` is Once.
    template <class Fn>
    auto transaction(Fn&& fn, LockWaits waits = LockWaits::Again) -> std::invoke_result_t<Fn, Tx&>;

    // Runs `fn(Tx&)` without a transaction: each statement sees its own moment and commits by
    // itself. After one lost connection all of `fn` runs again, also a statement that the server
    // applied but did not acknowledge. So it is for reads and for writes that may happen twice. A
    // claim may not: it counts an attempt, and the second run waits for the lease of the first.
    template <class Fn>
    auto autocommit(Fn&& fn) -> std::invoke_result_t<Fn, Tx&>;

    // Statements as they stand, e.g. a schema file's.
    void run(std::string_view statement) { connection().run(statement); }

    static constexpr int kAttempts = 5;

  private:
    Connection& connection();
    struct Attempts {
        LockWaits waits = LockWaits::Again;
        int begun = 1;
        int lost_connections = 0;
    };
    // Says whether the closure may run again. True: the rerun is counted and logged, and the pause
    // before it is over. A lost connection is dropped in both cases, so that the next use opens
    // one.
    bool prepare_rerun(const DbError& error, Attempts& so_far, bool commit_sent);

    ConnectionSettings settings_;
    std::unique_ptr<Connection> connection_;
    Timestamp last_used_;
};

// Thrown inside a transaction whose premise another one has just changed: runs it again.
struct RetryTransaction {
    const char* reason;
};

// Runs `statement`; false when it would give a row a unique key that another has. The rest of the
// transaction stands.
template <class Statement>
[[nodiscard]] bool unless_taken(const Statement& statement) {
    try {
        statement();
        return true;
    } catch (const DbError& error) {
        if (error.kind() != DbError::Kind::Duplicate) throw;
        return false;
    }
}

template <class Fn>
auto Database::transaction(Fn&& fn, LockWaits waits) -> std::invoke_result_t<Fn, Tx&> {
    using Result = std::invoke_result_t<Fn, Tx&>;
    for (Attempts attempts{.waits = waits};; ++attempts.begun) {
        bool commit_sent = false;
        try {
            Connection& open = connection();
            open.run("START TRANSACTION");
            Tx tx(open);
            if constexpr (std::is_void_v<Result>) {
                fn(tx);
                commit_sent = true;
                open.commit();
                return;
            } else {
                Result result = fn(tx);
                commit_sent = true;
                open.commit();
                return result;
            }
        } catch (const DbError& error) {
            if (connection_) connection_->rollback();
            if (!prepare_rerun(error, attempts, commit_sent)) throw;
        } catch (const RetryTransaction& retry) {
            connection_->rollback();
            const DbError error(DbError::Kind::Deadlock, 0, retry.reason);
            if (!prepare_rerun(error, attempts, false)) throw error;
        } catch (...) {
            if (connection_) connection_->rollback();
            throw;
        }
    }
}

template <class Fn>
auto Database::autocommit(Fn&& fn) -> std::invoke_result_t<Fn, Tx&> {
    for (Attempts attempts;; ++attempts.begun) {
        try {
            Tx tx(connection());
            return fn(tx);
        } catch (const DbError& error) {
            if (!prepare_rerun(error, attempts, false)) throw;
        }
    }
}

}  // namespace muster::db
