// db/transaction.hpp: a transaction takes effect completely and once, through deadlocks and lost
// connections.
#include "db/transaction.hpp"

#include "db/fixture.hpp"

#include "print.hpp"

#include <future>
#include <set>
#include <stdexcept>
#include <string>

using muster::OrgId;
using muster::db::Database;
using muster::db::DbError;
using muster::db::OrgSql;
using muster::db::OrgStore;
using muster::db::RetryTransaction;
using muster::db::SystemSql;
using muster::db::Tx;
using muster::db::Why;
using muster::test::Client;
using muster::test::in_parallel;
using muster::test::kind_of;
using muster::test::session_of;
using muster::test::until;
using Kind = DbError::Kind;

namespace {

constexpr Why kTest{"a table of this test, no tenant's data"};
constexpr SystemSql kAdd{"test.add", kTest, "UPDATE counters SET n = n + 1 WHERE id = ?"};
constexpr SystemSql kRead{"test.read", kTest, "SELECT n FROM counters WHERE id = ?"};
constexpr SystemSql kInsert{"test.insert", kTest, "INSERT INTO counters (id, n) VALUES (?, ?)"};
constexpr SystemSql kLock{"test.lock", kTest, "SELECT n FROM counters WHERE id = ? FOR UPDATE"};

// Whether all runs of `work` ended with a deadlock or a lock timeout; throws any other error.
template <class Work>
bool needs_repeat(const Work& work) {
    try {
        work();
        return false;
    } catch (const DbError& error) {
        if (error.kind() != Kind::Deadlock && error.kind() != Kind::LockTimeout) throw;
        return true;
    }
}

// Counters 1 and 2 at 0, and a hundred more that make a transaction that locks them heavier.
struct Counters {
    Counters() {
        client.run("DROP TABLE IF EXISTS counters");
        client.run(
            "CREATE TABLE counters (id INT PRIMARY KEY, n INT UNSIGNED NOT NULL) "
            "ENGINE = InnoDB");
        client.run("INSERT INTO counters VALUES (1, 0), (2, 0)");
        for (int id = 100; id < 200; ++id) client.execute("INSERT INTO counters VALUES (?, 0)", id);
        muster::db::statistics() = {};
    }
    ~Counters() { client.run("DROP TABLE counters"); }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    std::int64_t counter(int id) {
        return client.number("SELECT n FROM counters WHERE id = ?", id);
    }
    void kill(Tx& tx) { client.kill(muster::test::session_of(tx)); }

    Client client;
    Database database{muster::test::short_lock_timeout()};
};

// The server's limit of prepared statements.
class StatementLimit {
  public:
    explicit StatementLimit(Client& client)
        : client_(client), before_(client.value("SELECT @@GLOBAL.max_prepared_stmt_count")) {}
    ~StatementLimit() { restore(); }
    StatementLimit(const StatementLimit&) = delete;
    StatementLimit& operator=(const StatementLimit&) = delete;

    void set(const std::string& value) {
        client_.run("SET GLOBAL max_prepared_stmt_count = " + value);
    }
    void restore() { set(before_); }

  private:
    Client& client_;
    std::string before_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transaction, Counters)

// ---------------------------------------------------------------------------- without failures

BOOST_AUTO_TEST_CASE(the_closure_is_committed_and_its_value_returned) {
    const int value = database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        return 42;
    });
    BOOST_TEST(value == 42);
    BOOST_TEST(counter(1) == 1);
    database.transaction([&](Tx& tx) { tx.execute(kAdd, 1); });
    BOOST_TEST(counter(1) == 2);
}

BOOST_AUTO_TEST_CASE(a_transaction_is_invisible_until_it_commits) {
    database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        BOOST_TEST(counter(1) == 0);
    });
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(any_exception_rolls_back_and_propagates) {
    int runs = 0;
    const auto work = [&](const auto& thrown) {
        database.transaction([&](Tx& tx) {
            ++runs;
            tx.execute(kAdd, 1);
            throw thrown;
        });
    };
    BOOST_CHECK_THROW(work(std::runtime_error("x")), std::runtime_error);
    BOOST_CHECK_THROW(work(7), int);
    BOOST_CHECK_THROW(work(DbError(Kind::Other, 1, "x")), DbError);
    BOOST_CHECK_THROW(work(DbError(Kind::Duplicate, 1062, "x")), DbError);
    BOOST_CHECK_THROW(work(DbError(Kind::BadData, 1406, "x")), DbError);
    BOOST_TEST(runs == 5);
    BOOST_TEST(counter(1) == 0);
    database.transaction([&](Tx& tx) { tx.execute(kAdd, 1); });
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(an_organization_is_bound_to_each_org) {
    static constexpr OrgSql kBoth{"test.both", "SELECT :org = ? AND ? = :org AND :org <> ?"};
    const OrgId one = OrgId::create();
    const OrgId other = OrgId::create();
    database.autocommit([&](Tx& tx) {
        OrgStore org(tx, one);
        BOOST_TEST(org.org() == one);
        auto rows = org.query(kBoth, one, one, other);
        BOOST_TEST_REQUIRE(rows.next());
        BOOST_TEST(rows.integer(1) == 1);
    });
}

// ---------------------------------------------------------------------------- retries

BOOST_AUTO_TEST_CASE(a_real_deadlock_reruns_the_whole_closure) {
    Client rival;
    Client watch;
    int runs = 0;
    std::future<void> rival_waits;
    database.transaction([&](Tx& tx) {
        ++runs;
        tx.execute(kAdd, 1);
        if (runs == 1) {
            // The other transaction is heavier, so the server rolls back the tested one.
            rival.run("START TRANSACTION");
            rival.run("UPDATE counters SET n = n + 1 WHERE id >= 100 OR id = 2");
            rival_waits = std::async(std::launch::async, [&] {
                rival.run("UPDATE counters SET n = n + 1 WHERE id = 1");
                rival.run("COMMIT");
            });
            BOOST_TEST(until([&] { return watch.has_lock_wait(); }));
        }
        tx.execute(kAdd, 2);
    });
    rival_waits.get();
    BOOST_TEST(runs == 2);
    BOOST_TEST(muster::db::statistics().reruns == 1);
    BOOST_TEST(counter(1) == 2);  // one from this transaction, one from the other
    BOOST_TEST(counter(2) == 2);
}

BOOST_AUTO_TEST_CASE(a_lock_timeout_rolls_back_and_reruns_the_closure) {
    Client holder;
    holder.run("START TRANSACTION");
    holder.run("UPDATE counters SET n = n + 10 WHERE id = 2");
    int runs = 0;
    database.transaction([&](Tx& tx) {
        if (++runs == 2) holder.run("COMMIT");
        tx.execute(kAdd, 1);
        tx.execute(kAdd, 2);
    });
    BOOST_TEST(runs == 2);
    BOOST_TEST(counter(1) == 1);
    BOOST_TEST(counter(2) == 11);
}

BOOST_AUTO_TEST_CASE(the_longest_lock_wait_bounds_all_runs_together) {
    auto settings = muster::test::short_lock_timeout();
    settings.longest_lock_wait = std::chrono::seconds(3);
    Database bounded(settings);
    Client holder;
    holder.run("START TRANSACTION");
    holder.run("UPDATE counters SET n = n + 10 WHERE id = 2");
    int runs = 0;
    BOOST_TEST(kind_of([&] {
                   bounded.transaction([&](Tx& tx) {
                       ++runs;
                       tx.execute(kAdd, 1);
                       tx.execute(kAdd, 2);
                   });
               }) == Kind::LockTimeout);
    BOOST_TEST(runs <= 2);  // one second each
    BOOST_TEST(kind_of([&] { bounded.autocommit([&](Tx& tx) { tx.execute(kAdd, 2); }); }) ==
               Kind::LockTimeout);
    BOOST_TEST(counter(1) == 0);
    BOOST_TEST(muster::db::statistics().reruns <= 2);
}

BOOST_AUTO_TEST_CASE(the_longest_lock_wait_does_not_count_for_deadlocks) {
    auto settings = muster::test::short_lock_timeout();
    settings.longest_lock_wait = std::chrono::seconds(0);
    Database bounded(settings);
    int runs = 0;
    bounded.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        if (++runs < Database::kAttempts) throw DbError(Kind::Deadlock, 1213, "deadlock");
    });
    BOOST_TEST(runs == Database::kAttempts);
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_retry_request_reruns_the_closure_up_to_the_limit) {
    int runs = 0;
    database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        if (++runs < Database::kAttempts) throw RetryTransaction{"not yet"};
    });
    BOOST_TEST(runs == Database::kAttempts);
    BOOST_TEST(counter(1) == 1);
    runs = 0;
    BOOST_TEST(kind_of([&] {
                   database.transaction([&](Tx& tx) {
                       ++runs;
                       tx.execute(kAdd, 1);
                       throw RetryTransaction{"never"};
                   });
               }) == Kind::Deadlock);
    BOOST_TEST(runs == Database::kAttempts);
    BOOST_TEST(counter(1) == 1);
}

// ---------------------------------------------------------------------------- a lost connection

BOOST_AUTO_TEST_CASE(a_connection_killed_between_transactions_is_replaced) {
    std::int64_t session = 0;
    database.transaction([&](Tx& tx) { session = session_of(tx); });
    client.kill(session);
    int runs = 0;
    database.transaction([&](Tx& tx) {
        ++runs;
        tx.execute(kAdd, 1);
        BOOST_TEST(session_of(tx) != session);
    });
    BOOST_TEST(runs == 1);
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_connection_killed_in_a_transaction_reruns_the_closure_once) {
    int runs = 0;
    database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        if (++runs == 1) kill(tx);
        tx.execute(kAdd, 2);
    });
    BOOST_TEST(runs == 2);
    BOOST_TEST(counter(1) == 1);
    BOOST_TEST(counter(2) == 1);
}

BOOST_AUTO_TEST_CASE(a_connection_that_may_prepare_no_more_statements_is_replaced) {
    StatementLimit limit(client);
    int runs = 0;
    std::set<std::int64_t> sessions;
    database.transaction([&](Tx& tx) {
        limit.restore();
        sessions.insert(session_of(tx));
        tx.execute(kAdd, 1);
        if (++runs == 1) limit.set("0");
        tx.execute(kInsert, 3, 0);
    });
    BOOST_TEST(runs == 2);
    BOOST_TEST(sessions.size() == 2U);
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_second_lost_connection_is_thrown) {
    int runs = 0;
    BOOST_TEST(kind_of([&] {
                   database.transaction([&](Tx& tx) {
                       ++runs;
                       tx.execute(kAdd, 1);
                       kill(tx);
                       tx.execute(kAdd, 2);
                   });
               }) == Kind::Gone);
    BOOST_TEST(runs == 2);
    BOOST_TEST(counter(1) == 0);
}

BOOST_AUTO_TEST_CASE(a_lost_connection_after_a_deadlock_is_still_retried) {
    int runs = 0;
    database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        ++runs;
        if (runs == 1) throw RetryTransaction{"as a deadlock does"};
        if (runs == 2) kill(tx);
        tx.execute(kAdd, 2);
    });
    BOOST_TEST(runs == 3);
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_commit_with_an_unknown_result_is_not_rerun) {
    int runs = 0;
    BOOST_TEST(kind_of([&] {
                   database.transaction([&](Tx& tx) {
                       ++runs;
                       tx.execute(kAdd, 1);
                       kill(tx);
                   });
               }) == Kind::Gone);
    BOOST_TEST(runs == 1);
    BOOST_TEST(counter(1) == 0);
    database.transaction([&](Tx& tx) { tx.execute(kAdd, 1); });
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(an_unreachable_server_runs_no_closure) {
    auto settings = muster::test::connection_settings();
    settings.urls = {"unix:/nowhere/mysql.sock"};
    Database away(settings);
    int runs = 0;
    BOOST_TEST(kind_of([&] { away.transaction([&](Tx&) { ++runs; }); }) == Kind::Gone);
    BOOST_TEST(kind_of([&] { away.autocommit([&](Tx&) { ++runs; }); }) == Kind::Gone);
    BOOST_TEST(runs == 0);
}

// ---------------------------------------------------------------------------- attempt, autocommit

BOOST_AUTO_TEST_CASE(a_failed_step_rolls_back_only_itself) {
    database.transaction([&](Tx& tx) {
        tx.execute(kAdd, 1);
        const bool went_well = tx.attempt([&] {
            tx.execute(kAdd, 2);
            tx.execute(kInsert, 3, -1);  // n is unsigned
        });
        BOOST_TEST(!went_well);
        BOOST_TEST(tx.attempt([&] { tx.execute(kInsert, 4, 1); }));
        tx.execute(kAdd, 1);
    });
    BOOST_TEST(counter(1) == 2);
    BOOST_TEST(counter(2) == 0);
    BOOST_TEST(counter(4) == 1);
    BOOST_TEST(client.number("SELECT COUNT(*) FROM counters WHERE id = 3") == 0);
}

BOOST_AUTO_TEST_CASE(a_step_passes_on_every_other_failure) {
    BOOST_TEST(kind_of([&] {
                   database.transaction(
                       [&](Tx& tx) { tx.attempt([&] { tx.execute(kInsert, 1, 1); }); });
               }) == Kind::Duplicate);
    BOOST_CHECK_THROW(
        database.transaction([&](Tx& tx) { tx.attempt([] { throw std::runtime_error("x"); }); }),
        std::runtime_error);
    int runs = 0;
    database.transaction([&](Tx& tx) {
        tx.attempt([&] {
            tx.execute(kAdd, 1);
            if (++runs == 1) throw RetryTransaction{"again"};
        });
    });
    BOOST_TEST(runs == 2);
    BOOST_TEST(counter(1) == 1);
}

BOOST_AUTO_TEST_CASE(autocommit_reconnects_once) {
    int runs = 0;
    const auto value = database.autocommit([&](Tx& tx) {
        if (++runs == 1) kill(tx);
        auto rows = tx.query(kRead, 1);
        rows.next();
        return rows.integer(1);
    });
    BOOST_TEST(value == 0);
    BOOST_TEST(runs == 2);
    runs = 0;
    BOOST_TEST(kind_of([&] {
                   database.autocommit([&](Tx& tx) {
                       ++runs;
                       kill(tx);
                       tx.query(kRead, 1);
                   });
               }) == Kind::Gone);
    BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(autocommit_runs_again_after_a_deadlock_and_can_reject_a_lock_timeout) {
    int runs = 0;
    database.autocommit([&](Tx&) {
        if (++runs == 1) throw DbError(Kind::Deadlock, 1213, "deadlock");
    });
    BOOST_TEST(runs == 2);
    const auto time_out = [&](Tx&) {
        ++runs;
        throw DbError(Kind::LockTimeout, 1205, "lock timeout");
    };
    BOOST_TEST(kind_of([&] { database.autocommit(time_out, db::OnLockTimeout::Throw); }) ==
               Kind::LockTimeout);
    BOOST_TEST(runs == 3);
}

BOOST_AUTO_TEST_CASE(autocommit_opens_no_transaction) {
    database.autocommit([&](Tx& tx) {
        tx.execute(kAdd, 1);
        BOOST_TEST(counter(1) == 1);
        tx.query(kLock, 1).next();
        client.execute("UPDATE counters SET n = n + 1 WHERE id = 1");
        auto rows = tx.query(kRead, 1);
        rows.next();
        BOOST_TEST(rows.integer(1) == 2);
    });
}

// With eight threads at two rows, one transaction can be the victim of every deadlock, and on a
// busy machine every wait can time out. The contract is kAttempts runs, then an error without an
// effect. The caller then repeats the transaction, as a client repeats a request after a 503. An
// effect of a failed transaction would change the counters.
BOOST_AUTO_TEST_CASE(many_threads_lose_no_update) {
    constexpr int kThreads = 8;
    constexpr int kEach = 25;
    in_parallel(kThreads, [&](int i) {
        Database own(muster::test::connection_settings());
        const auto add_both = [&](int k) {
            own.transaction([&](Tx& tx) {
                tx.execute(kAdd, 1 + (i + k) % 2);
                tx.execute(kAdd, 1 + (i + k + 1) % 2);  // in either order, to cause deadlocks
            });
        };
        for (int k = 0; k < kEach; ++k) {
            while (needs_repeat([&] { add_both(k); })) {
            }
        }
    });
    BOOST_TEST(counter(1) == kThreads * kEach);
    BOOST_TEST(counter(2) == kThreads * kEach);
}

// ---------------------------------------------------------------------------- after_commit

BOOST_AUTO_TEST_CASE(steps_run_after_the_commit_of_what_is_not_rolled_back) {
    std::string steps;
    int runs = 0;
    const auto add = [&](Tx& tx, char step) { tx.after_commit([&, step] { steps += step; }); };
    database.transaction([&](Tx& tx) {
        add(tx, 'a');
        tx.attempt_or_undo([&] {
            add(tx, 'b');
            return false;
        });
        tx.attempt([&] {
            add(tx, 'c');
            tx.execute(kInsert, 3, -1);  // does not fit
        });
        tx.attempt_or_undo([&] {
            add(tx, 'd');
            return true;
        });
        BOOST_TEST(steps.empty());
        if (++runs == 1) throw RetryTransaction{"once more"};
        return runs;
    });
    BOOST_TEST(steps == "ad");
    BOOST_CHECK_THROW(database.transaction([&](Tx& tx) {
        add(tx, 'e');
        throw std::runtime_error("x");
    }),
                      std::runtime_error);
    BOOST_TEST(steps == "ad");
}

BOOST_AUTO_TEST_SUITE_END()
