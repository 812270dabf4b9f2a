// Transactions: Database opens one, runs a closure in it, commits, and runs the WHOLE closure again
// when InnoDB gave up on it. Tx runs statements of no tenant; OrgStore binds the tenant to all
// others.
#pragma once

#include "db/columns.hpp"
#include "db/connection.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::db {

// The rows of a query as values, read forward, once: for range-based for.
template <class List>
class Result {
  public:
    class Iterator {
      public:
        explicit Iterator(Rows& rows) : rows_(rows) { ++*this; }
        typename List::Row operator*() const { return List::read(rows_); }
        void operator++() { is_behind_ = !rows_.next(); }
        bool operator==(std::default_sentinel_t) const { return is_behind_; }

      private:
        Rows& rows_;
        bool is_behind_ = false;
    };

    explicit Result(Rows rows) : rows_(std::move(rows)) {}
    Iterator begin() { return Iterator(rows_); }
    std::default_sentinel_t end() const { return {}; }

  private:
    Rows rows_;
};

// What can be asked with one kind of statement. A statement without a list of columns has a single
// one, whose type the caller names: `one<OrgId>(kFind, id)`.
template <template <class> class Statement>
class Statements {
  public:
    template <class... Params>
    std::int64_t execute(const Statement<NoColumns>& sql, const Params&... params) {
        return connection_.execute(sql, org_ptr(),
                                   std::array<Param, sizeof...(Params)>{Param(params)...});
    }
    // `params`: those of all groups, in the order of the statement.
    std::int64_t execute_bulk(const Statement<NoColumns>& sql, std::size_t groups,
                              std::span<const Param> params) {
        return connection_.execute(sql, org_ptr(), params, groups);
    }

    // The rows one by one.
    template <class List, class... Params>
    Result<List> each(const Statement<List>& sql, const Params&... params) {
        return Result<List>(query(sql, params...));
    }
    template <class Value, class... Params>
    Result<SingleColumn<Value>> each(const Statement<NoColumns>& sql, const Params&... params) {
        return Result<SingleColumn<Value>>(query(sql, params...));
    }
    template <class List>
    Result<List> each_bulk(const Statement<List>& sql, std::size_t groups,
                           std::span<const Param> params) {
        return Result<List>(connection_.query(sql, org_ptr(), params, groups));
    }
    template <class Value>
    Result<SingleColumn<Value>> each_bulk(const Statement<NoColumns>& sql, std::size_t groups,
                                          std::span<const Param> params) {
        return Result<SingleColumn<Value>>(connection_.query(sql, org_ptr(), params, groups));
    }

    // All rows.
    template <class List, class... Params>
    std::vector<typename List::Row> all(const Statement<List>& sql, const Params&... params) {
        return gathered(each(sql, params...));
    }
    template <class Value, class... Params>
    std::vector<Value> all(const Statement<NoColumns>& sql, const Params&... params) {
        return gathered(each<Value>(sql, params...));
    }
    template <class List>
    std::vector<typename List::Row> all_bulk(const Statement<List>& sql, std::size_t groups,
                                             std::span<const Param> params) {
        return gathered(each_bulk(sql, groups, params));
    }
    template <class Value>
    std::vector<Value> all_bulk(const Statement<NoColumns>& sql, std::size_t groups,
                                std::span<const Param> params) {
        return gathered(each_bulk<Value>(sql, groups, params));
    }

    // The first row; nullopt where there is none.
    template <class List, class... Params>
    std::optional<typename List::Row> one(const Statement<List>& sql, const Params&... params) {
        return first(each(sql, params...));
    }
    template <class Value, class... Params>
    std::optional<Value> one(const Statement<NoColumns>& sql, const Params&... params) {
        return first(each<Value>(sql, params...));
    }

    // The first row of a statement that always has one, such as a COUNT.
    template <class List, class... Params>
    typename List::Row value(const Statement<List>& sql, const Params&... params) {
        return one(sql, params...).value();
    }
    template <class Value, class... Params>
    Value value(const Statement<NoColumns>& sql, const Params&... params) {
        return *one<Value>(sql, params...);
    }

    // Whether there is a row.
    template <class... Params>
    bool exists(const Statement<NoColumns>& sql, const Params&... params) {
        return query(sql, params...).next();
    }

    // The rows as the server gives them.
    template <class List, class... Params>
    Rows query(const Statement<List>& sql, const Params&... params) {
        return connection_.query(sql, org_ptr(),
                                 std::array<Param, sizeof...(Params)>{Param(params)...});
    }

  protected:
    explicit Statements(Connection& connection, std::optional<OrgId> org = std::nullopt)
        : connection_(connection), org_(org) {}

    Connection& connection_;
    std::optional<OrgId> org_;

  private:
    const OrgId* org_ptr() const { return org_ ? &*org_ : nullptr; }

    template <class List>
    static std::vector<typename List::Row> gathered(Result<List> result) {
        std::vector<typename List::Row> rows;
        for (auto row : result) rows.push_back(std::move(row));
        return rows;
    }
    template <class List>
    static std::optional<typename List::Row> first(Result<List> result) {
        for (auto row : result) return row;
        return std::nullopt;
    }
};

// A running transaction (or, in Database::autocommit, a session without one).
class Tx : public Statements<SystemSql> {
  public:
    explicit Tx(Connection& connection) : Statements(connection) {}
    Tx(const Tx&) = delete;
    Tx& operator=(const Tx&) = delete;

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
};

// One tenant's view of a transaction.
class OrgStore : public Statements<OrgSql> {
  public:
    OrgStore(Tx& tx, OrgId org) : Statements(tx.connection_, org) {}

    const OrgId& org() const { return *org_; }
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
