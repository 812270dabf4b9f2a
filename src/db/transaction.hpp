// Transactions. Database opens a transaction, runs a closure in it and commits. If InnoDB rolls
// back, Database runs the WHOLE closure again. Tx runs statements of no tenant; OrgStore binds the
// tenant to all others.
#pragma once

#include "db/columns.hpp"
#include "db/connection.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::db {

// The rows of a query as values, for one range-based for.
template <class List>
class Result {
  public:
    class Iterator {
      public:
        explicit Iterator(Rows& rows) : rows_(rows) { ++*this; }
        typename List::Row operator*() const { return List::read(rows_); }
        void operator++() { at_end_ = !rows_.next(); }
        bool operator==(std::default_sentinel_t) const { return at_end_; }

      private:
        Rows& rows_;
        bool at_end_ = false;
    };

    explicit Result(Rows rows) : rows_(std::move(rows)) {}
    Iterator begin() { return Iterator(rows_); }
    std::default_sentinel_t end() const { return {}; }

  private:
    Rows rows_;
};

// The calls for one kind of statement. A statement without a list has a single column, whose type
// the caller names: `one<OrgId>(kFind, id)`.
template <template <class> class Statement>
class Statements {
  public:
    // Returns the number of changed rows.
    template <class... Params>
    std::int64_t execute(const Statement<NoColumns>& sql, const Params&... params) {
        return connection_.execute(sql, org_ptr(),
                                   std::array<Param, sizeof...(Params)>{Param(params)...});
    }
    // `params`: the parameters of all groups, in the order of the statement.
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

    // All rows of a statement with `IN ({?})`, for one or more values. It repeats the last value up
    // to a power of two, so that a connection prepares few different texts.
    template <class List, class Value>
    std::vector<typename List::Row> all_in(const Statement<List>& sql,
                                           std::span<const Value> values) {
        std::vector<Param> params(values.begin(), values.end());
        params.resize(std::bit_ceil(values.size()), params.back());
        return all_bulk(sql, params.size(), params);
    }

    // The first row, or nullopt.
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

    // True if the query returns a row.
    template <class... Params>
    bool exists(const Statement<NoColumns>& sql, const Params&... params) {
        return query(sql, params...).next();
    }

    // The unmapped rows.
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

    // Runs a statement of a schema file unchanged. Returns the number of changed rows.
    std::int64_t run(std::string_view statement) { return connection_.run(statement); }

    // Runs `step`. If it throws DbError BadData, undoes its changes and returns false; the
    // transaction continues.
    bool attempt(const std::function<void()>& step);

    // Runs `step`. If it returns false, undoes its changes and returns false; the transaction
    // continues. An exception rolls back the whole transaction.
    bool attempt_or_undo(const std::function<bool()>& step);

    // Runs `step` after the commit of Database::transaction. A rollback drops it, also one to a
    // savepoint. It must neither throw nor use the database.
    void after_commit(std::function<void()> step) { after_commit_.push_back(std::move(step)); }

  private:
    friend class OrgStore;
    friend class Database;
    void run_steps_after_commit() const {
        for (const auto& step : after_commit_) step();
    }

    std::vector<std::function<void()>> after_commit_;
};

// A transaction restricted to one tenant.
class OrgStore : public Statements<OrgSql> {
  public:
    OrgStore(Tx& tx, OrgId org) : Statements(tx.connection_, org) {}

    const OrgId& org() const { return *org_; }
};

// What a transaction does after a lock timeout.
enum class OnLockTimeout : std::uint8_t { Retry, Throw };

// Runs transactions over one connection, which it opens when first needed and again after a loss.
// For one thread.
class Database {
  public:
    explicit Database(ConnectionSettings settings) : settings_(std::move(settings)) {}

    // Runs `fn(Tx&)` and commits. After a Deadlock, a LockTimeout or a RetryTransaction it runs all
    // of `fn` again, at most kAttempts times, with a growing jittered pause. It also runs `fn`
    // again after one lost connection, unless COMMIT was already sent. So the side effects of `fn`
    // outside the database must be idempotent.
    //
    // Any other exception rolls back and is rethrown, as is LockTimeout if `on_lock_timeout` is
    // Throw, or if a further wait could exceed ConnectionSettings::longest_lock_wait.
    template <class Fn>
    auto transaction(Fn&& fn, OnLockTimeout on_lock_timeout = OnLockTimeout::Retry)
        -> std::invoke_result_t<Fn, Tx&>;

    // Runs `fn(Tx&)` without a transaction: each statement has its own snapshot and commits
    // separately. After one lost connection it runs all of `fn` again, including a statement that
    // the server applied but did not acknowledge. So use it for reads and for idempotent writes. Do
    // not use it for a claim: a claim counts an attempt, and the second run would wait for the
    // lease of the first.
    template <class Fn>
    auto autocommit(Fn&& fn, OnLockTimeout on_lock_timeout = OnLockTimeout::Retry)
        -> std::invoke_result_t<Fn, Tx&>;

    // Runs a statement unchanged, for example of a schema file.
    void run(std::string_view statement) { connection().run(statement); }

    static constexpr int kAttempts = 5;

  private:
    Connection& connection();
    struct Attempts {
        OnLockTimeout on_lock_timeout = OnLockTimeout::Retry;
        int begun = 1;
        int lost_connections = 0;
        std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    };
    // Ends the transaction after an error of this kind. If that fails, drops the connection, so
    // that the next transaction does not commit a part of this one.
    void roll_back(DbError::Kind kind) noexcept;
    // Whether the transaction may wait for a lock once more.
    [[nodiscard]] bool may_wait_again(const Attempts& so_far) const;
    // Decides whether the closure may run again. If so, counts and logs the rerun and pauses. Drops
    // a lost connection in any case, so that the next use opens a new one.
    bool prepare_rerun(const DbError& error, Attempts& so_far, bool commit_sent);

    ConnectionSettings settings_;
    std::unique_ptr<Connection> connection_;
    SteadyTime last_used_;
};

// Thrown in a transaction if another transaction changed what it relies on. Runs the transaction
// again.
struct RetryTransaction {
    const char* reason;
};

// Runs `statement`. Returns false if it fails because a unique key exists already; the transaction
// continues.
template <class Statement>
[[nodiscard]] bool try_unique(const Statement& statement) {
    try {
        statement();
        return true;
    } catch (const DbError& error) {
        if (error.kind() != DbError::Kind::Duplicate) throw;
        return false;
    }
}

template <class Fn>
auto Database::transaction(Fn&& fn, OnLockTimeout on_lock_timeout)
    -> std::invoke_result_t<Fn, Tx&> {
    using Result = std::invoke_result_t<Fn, Tx&>;
    for (Attempts attempts{.on_lock_timeout = on_lock_timeout};; ++attempts.begun) {
        bool commit_sent = false;
        try {
            Connection& open = connection();
            open.run("START TRANSACTION");
            Tx tx(open);
            if constexpr (std::is_void_v<Result>) {
                fn(tx);
                commit_sent = true;
                open.commit();
                tx.run_steps_after_commit();
                return;
            } else {
                Result result = fn(tx);
                commit_sent = true;
                open.commit();
                tx.run_steps_after_commit();
                return result;
            }
        } catch (const DbError& error) {
            roll_back(error.kind());
            if (!prepare_rerun(error, attempts, commit_sent)) throw;
        } catch (const RetryTransaction& retry) {
            roll_back(DbError::Kind::Deadlock);
            const DbError error(DbError::Kind::Deadlock, 0, retry.reason);
            if (!prepare_rerun(error, attempts, false)) throw error;
        } catch (...) {
            roll_back(DbError::Kind::Other);
            throw;
        }
    }
}

template <class Fn>
auto Database::autocommit(Fn&& fn, OnLockTimeout on_lock_timeout) -> std::invoke_result_t<Fn, Tx&> {
    for (Attempts attempts{.on_lock_timeout = on_lock_timeout};; ++attempts.begun) {
        try {
            Tx tx(connection());
            return fn(tx);
        } catch (const DbError& error) {
            if (!prepare_rerun(error, attempts, false)) throw;
        }
    }
}

}  // namespace muster::db
