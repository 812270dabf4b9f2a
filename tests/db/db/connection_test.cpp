// db/connection.hpp: values are read back unchanged, and every failure is classified by how a
// caller can react to it.
#include "db/connection.hpp"

#include "db/fixture.hpp"
#include "db/memory.hpp"

#include "print.hpp"

#include <future>
#include <numeric>
#include <string>
#include <vector>

using muster::OrgId;
using muster::Timestamp;
using muster::Uuid;
using muster::db::DbError;
using muster::db::Param;
using muster::db::Sql;
using muster::test::Client;
using muster::test::kind_of;
using muster::test::SchemaChange;
using muster::test::until;
using Kind = DbError::Kind;

namespace {

std::string every_byte() {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    return bytes + bytes;
}

// A temporary table of the connection.
struct TableFixture : Client {
    TableFixture() {
        run("CREATE TEMPORARY TABLE t (a INT NOT NULL PRIMARY KEY, b BIGINT NULL, c MEDIUMBLOB NULL, "
            "d VARCHAR(3) NULL) ENGINE = InnoDB");
    }
};

std::int64_t status(Client& client, const char* name) {
    auto rows = client.query("SHOW SESSION STATUS LIKE '" + std::string(name) + "'");
    rows.next();
    return rows.integer(2);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(connection)

// ---------------------------------------------------------------------------- values

BOOST_FIXTURE_TEST_CASE(any_bytes_are_read_back_unchanged, TableFixture) {
    for (const std::string& bytes :
         {std::string(), std::string(1, '\0'), std::string("a\0b\0", 4), every_byte(),
          std::string(100'000, '\xff'), std::string("'\"\\;--?:org{}%_\n")}) {
        execute("DELETE FROM t");
        execute("INSERT INTO t (a, c) VALUES (1, ?)", bytes);
        BOOST_TEST(value("SELECT c FROM t") == bytes);
        BOOST_TEST(number("SELECT LENGTH(c) FROM t") == static_cast<std::int64_t>(bytes.size()));
        BOOST_TEST(number("SELECT COUNT(*) FROM t WHERE c = ?", bytes) == 1);
    }
}

BOOST_FIXTURE_TEST_CASE(integers_are_read_back_exactly, TableFixture) {
    for (const std::int64_t number :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 53 | 1,
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        execute("DELETE FROM t");
        execute("INSERT INTO t (a, b) VALUES (1, ?)", number);
        auto rows = query("SELECT b FROM t");
        BOOST_TEST_REQUIRE(rows.next());
        BOOST_TEST(rows.integer(1) == number);
        BOOST_TEST(rows.timestamp(1).milliseconds() == number);
        BOOST_TEST(!rows.next());
    }
}

BOOST_FIXTURE_TEST_CASE(no_reader_of_a_value_accepts_null, TableFixture) {
    execute("INSERT INTO t (a, b, c) VALUES (1, ?, ?)", std::nullopt, std::optional<std::string>());
    auto rows = query("SELECT b, c FROM t");
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.is_null(1));
    BOOST_TEST(rows.is_null(2));
    BOOST_CHECK_THROW((void)rows.integer(1), DbError);
    BOOST_CHECK_THROW((void)rows.timestamp(1), DbError);
    BOOST_CHECK_THROW((void)rows.bytes(2), DbError);
    BOOST_CHECK_THROW((void)rows.id<OrgId>(2), DbError);
}

BOOST_FIXTURE_TEST_CASE(a_row_has_numbers_times_and_ids, TableFixture) {
    const OrgId id = OrgId::create();
    execute("INSERT INTO t (a, b, c) VALUES (1, ?, ?)", Timestamp(7), id);
    auto rows = query("SELECT b, c, '' FROM t");
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.integer(1) == 7);
    BOOST_TEST(rows.timestamp(1) == Timestamp(7));
    BOOST_TEST(rows.id<OrgId>(2) == id);
    BOOST_TEST(!rows.is_null(3));
    BOOST_TEST(rows.bytes(3) == "");
}

BOOST_FIXTURE_TEST_CASE(an_empty_text_is_stored_as_null_on_request, TableFixture) {
    execute("INSERT INTO t (a, c) VALUES (1, ?), (2, ?), (3, ?)", "", Param::text_or_null(""),
            Param::text_or_null("x"));
    const std::vector<std::string> expected = {"", "NULL", "x"};
    BOOST_TEST(column("SELECT c FROM t ORDER BY a") == expected);
}

BOOST_FIXTURE_TEST_CASE(bytes_of_another_length_are_not_an_id, TableFixture) {
    for (const std::string& bytes : {std::string(), std::string(15, 'x'), std::string(17, 'x')}) {
        execute("DELETE FROM t");
        execute("INSERT INTO t (a, c) VALUES (1, ?)", bytes);
        auto rows = query("SELECT c FROM t");
        BOOST_TEST_REQUIRE(rows.next());
        BOOST_CHECK_THROW((void)rows.id<OrgId>(1), DbError);
    }
}

BOOST_FIXTURE_TEST_CASE(execute_counts_rows_that_changed, TableFixture) {
    BOOST_TEST(execute("INSERT INTO t (a, b) VALUES (1, 1), (2, 2)") == 2);
    BOOST_TEST(execute("UPDATE t SET b = 1") == 1);
    BOOST_TEST(execute("UPDATE t SET b = 1") == 0);
    BOOST_TEST(execute("INSERT INTO t (a, b) VALUES (1, 9) ON DUPLICATE KEY UPDATE a = t.a") == 0);
    BOOST_TEST(execute("DELETE FROM t") == 2);
}

BOOST_FIXTURE_TEST_CASE(four_byte_characters_are_stored, Client) {
    const std::string text = "Zo\u00eb \U0001f600 \u4e2d";
    BOOST_TEST(value("SELECT CONVERT(? USING utf8mb4)", text) == text);
    BOOST_TEST(value("SELECT @@character_set_client") == "utf8mb4");
}

BOOST_FIXTURE_TEST_CASE(the_session_is_strict_in_utc_and_reads_committed_rows, Client) {
    BOOST_TEST(value("SELECT @@sql_mode").find("STRICT_ALL_TABLES") != std::string::npos);
    BOOST_TEST(value("SELECT @@time_zone") == "+00:00");
    const auto name = value(
        "SHOW VARIABLES WHERE variable_name IN "
        "('tx_isolation', 'transaction_isolation')");
    BOOST_TEST(value("SELECT @@" + name) == "READ-COMMITTED");
    BOOST_TEST(number("SELECT @@innodb_lock_wait_timeout") == 5);
}

// ---------------------------------------------------------------------------- groups

BOOST_FIXTURE_TEST_CASE(a_group_is_repeated_the_given_number_of_times, Client) {
    static constexpr Sql kSelect{"test.groups",
                                 "SELECT COUNT(*), SUM(v) FROM (SELECT 0 AS v FROM DUAL WHERE "
                                 "0 IN ({?}) UNION ALL SELECT 7) AS x"};
    for (const std::size_t groups : {std::size_t{1}, std::size_t{3}, std::size_t{500}}) {
        std::vector<int> numbers(groups);
        std::iota(numbers.begin(), numbers.end(), 0);
        const std::vector<Param> params(numbers.begin(), numbers.end());
        auto rows = connection().query(kSelect, nullptr, params, groups);
        BOOST_TEST_REQUIRE(rows.next());
        BOOST_TEST(rows.integer(1) == 2);
    }
}

BOOST_FIXTURE_TEST_CASE(a_bulk_insert_keeps_the_order_of_its_parameters, TableFixture) {
    static constexpr Sql kInsert{"test.bulk", "INSERT INTO t (c, a, b) VALUES {(:org, ?, ?)}"};
    const OrgId org = OrgId::create();
    for (const std::size_t groups : {std::size_t{1}, std::size_t{3}, std::size_t{500}}) {
        execute("DELETE FROM t");
        std::vector<Param> params;
        for (std::size_t i = 0; i < groups; ++i) {
            params.emplace_back(i);
            params.emplace_back(10'000 - i);
        }
        BOOST_TEST(connection().execute(kInsert, &org, params, groups) ==
                   static_cast<std::int64_t>(groups));
        BOOST_TEST(number("SELECT COUNT(*) FROM t WHERE a + b = 10000 AND c = ?", org) ==
                   static_cast<std::int64_t>(groups));
    }
}

BOOST_FIXTURE_TEST_CASE(groups_that_are_queries_are_joined_by_union_all, Client) {
    static constexpr std::array<std::string_view, 1> kColumns = {"v"};
    static constexpr Sql kSelect{
        "test.queries",
        "{ UNION ALL (SELECT {columns} FROM (SELECT ? AS v) AS x WHERE v > ? LIMIT 1)}", kColumns};
    const auto sum_of = [&](std::span<const Param> params) {
        auto rows = connection().query(kSelect, nullptr, params, params.size() / 2);
        std::int64_t sum = 0;
        while (rows.next()) sum += rows.integer(1);
        return sum;
    };
    BOOST_TEST(sum_of(std::vector<Param>{2, 1}) == 2);
    BOOST_TEST(sum_of(std::vector<Param>{2, 1, 2, 1, 4, 4, 30, 1}) == 34);
}

BOOST_FIXTURE_TEST_CASE(question_marks_in_quotes_are_text, Client) {
    static constexpr Sql kSelect{"test.quotes", "SELECT '? :org {?}', ?"};
    const std::vector<Param> params{Param("x")};
    auto rows = connection().query(kSelect, nullptr, params);
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.bytes(1) == "? :org {?}");
    BOOST_TEST(rows.bytes(2) == "x");
}

BOOST_FIXTURE_TEST_CASE(a_wrong_number_of_parameters_is_a_logic_error, Client) {
    static constexpr Sql kSelect{"test.count", "SELECT ?, ?"};
    static constexpr Sql kTenant{"test.tenant", "SELECT :org"};
    const std::vector<Param> one{Param(1)};
    const std::vector<Param> three{Param(1), Param(2), Param(3)};
    BOOST_CHECK_THROW(connection().query(kSelect, nullptr, one), std::logic_error);
    BOOST_CHECK_THROW(connection().query(kSelect, nullptr, three), std::logic_error);
    BOOST_CHECK_THROW(connection().query(kTenant, nullptr, {}), std::logic_error);
}

// ---------------------------------------------------------------------------- statement cache

BOOST_FIXTURE_TEST_CASE(a_statement_is_prepared_once_per_number_of_groups, Client) {
    static constexpr Sql kSelect{"test.cached", "SELECT 1 FROM DUAL WHERE 1 IN ({?})"};
    const std::vector<Param> params{Param(1), Param(2)};
    const auto run_both = [&] {
        connection().query(kSelect, nullptr, std::span(params).first(1), 1);
        connection().query(kSelect, nullptr, params, 2);
    };
    (void)status(*this, "Com_stmt_prepare");
    const auto before = status(*this, "Com_stmt_prepare");
    for (int i = 0; i < 10; ++i) run_both();
    BOOST_TEST(status(*this, "Com_stmt_prepare") - before == 2);
}

BOOST_FIXTURE_TEST_CASE(the_cache_evicts_the_least_recently_used_statement, Client) {
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 600; ++i) {
            BOOST_TEST(number("SELECT " + std::to_string(i) + " + ?", round) == i + round);
        }
    }
    BOOST_TEST(status(*this, "Com_stmt_prepare") - status(*this, "Com_stmt_close") <= 257);
}

BOOST_FIXTURE_TEST_CASE(a_result_remains_valid_after_its_statement_leaves_the_cache, Client) {
    auto rows = query("SELECT 1 UNION ALL SELECT 2");
    for (int i = 0; i < 300; ++i) (void)number("SELECT " + std::to_string(i) + " * ?", 1);
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.integer(1) == 1);
    BOOST_TEST_REQUIRE(rows.next());
    BOOST_TEST(rows.integer(1) == 2);
}

BOOST_FIXTURE_TEST_CASE(a_prepared_statement_keeps_no_large_values, Client,
                        *boost::unit_test::enable_if<muster::test::kIsMemoryFreed>()) {
    constexpr int kStatements = 100;
    const std::string large(1 << 20, 'x');
    const auto bytes = muster::test::peak_bytes([&] {
        for (int i = 0; i < kStatements; ++i) {
            const std::string text = "SELECT " + std::to_string(i) + " + LENGTH(?)";
            BOOST_TEST(number(text, large) == i + (1 << 20));
        }
    });
    BOOST_TEST(bytes < 16 << 20);
}

BOOST_FIXTURE_TEST_CASE(statements_and_their_duration_are_counted, Client) {
    muster::db::statistics() = {};
    (void)number("SELECT 1");
    (void)kind_of([&] { run("no SQL"); });
    BOOST_TEST(muster::db::statistics().statements == 2);
    BOOST_TEST(muster::db::statistics().microseconds > 0);
    BOOST_TEST(muster::db::statistics().reruns == 0);
}

// ---------------------------------------------------------------------------- errors

BOOST_FIXTURE_TEST_CASE(an_existing_key_is_a_duplicate, TableFixture) {
    execute("INSERT INTO t (a) VALUES (1)");
    BOOST_TEST(kind_of([&] { execute("INSERT INTO t (a) VALUES (1)"); }) == Kind::Duplicate);
}

BOOST_FIXTURE_TEST_CASE(an_error_does_not_contain_the_rejected_value, TableFixture) {
    execute("INSERT INTO t (a) VALUES (271828)");
    for (const char* statement :
         {"INSERT INTO t (a) VALUES (271828)", "INSERT INTO t (a) VALUES ('x271828')"}) {
        try {
            execute(statement);
            BOOST_ERROR("it was stored");
        } catch (const muster::db::DbError& error) {
            BOOST_TEST(std::string(error.what()).find("271828") == std::string::npos, error.what());
        }
    }
}

BOOST_FIXTURE_TEST_CASE(an_error_does_not_contain_a_rejected_value_with_quotes, TableFixture) {
    run("CREATE TEMPORARY TABLE names (name VARCHAR(40) NOT NULL PRIMARY KEY) ENGINE = InnoDB");
    for (const std::string name : {"o'brien@x.example", "'brien@x.example", "brien@'x.example'"}) {
        execute("INSERT INTO names (name) VALUES (?)", name);
        try {
            execute("INSERT INTO names (name) VALUES (?)", name);
            BOOST_ERROR("it was stored twice");
        } catch (const muster::db::DbError& error) {
            const std::string text = error.what();
            BOOST_TEST(text.find("brien") == std::string::npos, text);
            BOOST_TEST(text.find("x.example") == std::string::npos, text);
            BOOST_TEST(text.find("Duplicate entry '...'") != std::string::npos, text);
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_connection_sends_no_local_file_to_the_server, TableFixture) {
    run("CREATE TEMPORARY TABLE names (name VARCHAR(200) NOT NULL) ENGINE = InnoDB");
    BOOST_CHECK_THROW(run("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE names"), DbError);
    BOOST_TEST(number("SELECT COUNT(*) FROM names") == 0);
}

BOOST_FIXTURE_TEST_CASE(invalid_values_are_bad_data, TableFixture) {
    const auto kind = [&](std::string_view values) {
        return kind_of([&] { execute("INSERT INTO t (a, b, d) VALUES " + std::string(values)); });
    };
    BOOST_TEST(kind("(1, 1, 'four')") == Kind::BadData);
    BOOST_TEST(kind("(NULL, 1, 'x')") == Kind::BadData);
    BOOST_TEST(kind("(3000000000, 1, 'x')") == Kind::BadData);
    BOOST_TEST(kind("(1, 'x', 'x')") == Kind::BadData);
    BOOST_TEST(
        (kind_of([&] { execute("INSERT INTO t (a, d) VALUES (1, ?)", "\xff"); }) == Kind::BadData));
    BOOST_TEST(number("SELECT COUNT(*) FROM t") == 0);
}

BOOST_FIXTURE_TEST_CASE(a_row_of_an_unknown_organization_is_bad_data, Client) {
    BOOST_TEST(kind_of([&] {
                   execute(
                       "INSERT INTO attributes (organization_id, id, attribute_key, label, "
                       "type, enabled, created_at, updated_at) "
                       "VALUES (?, ?, 'k', 'K', 'text', 1, 1, 1)",
                       Uuid::v7(), Uuid::v7());
               }) == Kind::BadData);
}

BOOST_FIXTURE_TEST_CASE(a_malformed_statement_is_other_and_named_in_the_text, Client) {
    static constexpr Sql kBroken{"test.broken", "SELEC 1"};
    try {
        connection().query(kBroken, nullptr, {});
        BOOST_ERROR("no error");
    } catch (const DbError& error) {
        BOOST_TEST(error.kind() == Kind::Other);
        BOOST_TEST(error.number() == 1064);
        BOOST_TEST(std::string(error.what()).starts_with("test.broken: "));
    }
}

BOOST_AUTO_TEST_CASE(two_transactions_that_wait_for_each_other_deadlock) {
    Client first;
    Client second;
    const SchemaChange table(first,
                             "CREATE TABLE deadlocks (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
                             "DROP TABLE deadlocks");
    first.execute("INSERT INTO deadlocks VALUES (1, 0), (2, 0)");
    first.run("START TRANSACTION");
    second.run("START TRANSACTION");
    first.execute("UPDATE deadlocks SET b = 1 WHERE a = 1");
    second.execute("UPDATE deadlocks SET b = 2 WHERE a = 2");
    std::optional<Kind> of_second;
    auto waiting = std::async(std::launch::async, [&] {
        of_second = kind_of([&] { second.execute("UPDATE deadlocks SET b = 2 WHERE a = 1"); });
    });
    Client watch;
    BOOST_TEST(until([&] { return watch.has_lock_wait(); }));
    const auto of_first = kind_of([&] { first.execute("UPDATE deadlocks SET b = 1 WHERE a = 2"); });
    if (of_first) first.run("ROLLBACK");
    waiting.get();
    BOOST_TEST((of_first == Kind::Deadlock) != (of_second == Kind::Deadlock));
    first.run("ROLLBACK");
    second.run("ROLLBACK");
}

BOOST_AUTO_TEST_CASE(a_row_that_remains_locked_is_a_lock_timeout) {
    Client holder;
    Client waiting(muster::test::short_lock_timeout());
    const SchemaChange table(holder,
                             "CREATE TABLE locked_rows (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
                             "DROP TABLE locked_rows");
    holder.execute("INSERT INTO locked_rows VALUES (1, 0)");
    holder.run("START TRANSACTION");
    holder.execute("UPDATE locked_rows SET b = 1");
    BOOST_TEST(
        (kind_of([&] { waiting.execute("UPDATE locked_rows SET b = 2"); }) == Kind::LockTimeout));
    holder.run("ROLLBACK");
}

BOOST_AUTO_TEST_CASE(an_idle_connection_loses_its_locks) {
    Client watch;
    const SchemaChange table(watch,
                             "CREATE TABLE silent_locks (a INT PRIMARY KEY, b INT) ENGINE = InnoDB",
                             "DROP TABLE silent_locks");
    watch.execute("INSERT INTO silent_locks VALUES (1, 0)");
    auto settings = muster::test::connection_settings();
    settings.idle_timeout_seconds = 1;
    Client frozen(settings);
    frozen.run("START TRANSACTION");
    frozen.execute("UPDATE silent_locks SET b = 1");
    BOOST_TEST(watch.execute("UPDATE silent_locks SET b = 2") == 1);  // waits for it
    BOOST_TEST(kind_of([&] { frozen.run("COMMIT"); }) == Kind::Gone);
    BOOST_TEST(watch.number("SELECT b FROM silent_locks") == 2);
}

BOOST_AUTO_TEST_CASE(a_killed_connection_is_gone) {
    Client killer;
    Client client;
    BOOST_TEST(client.connection().is_alive());
    killer.kill(client.id());
    BOOST_TEST(kind_of([&] { client.execute("DO 1"); }) == Kind::Gone);
    BOOST_TEST(kind_of([&] { client.run("SELECT 1"); }) == Kind::Gone);
    BOOST_TEST(!client.connection().is_alive());
    BOOST_TEST(!client.connection().rollback());
}

BOOST_AUTO_TEST_CASE(an_unreachable_server_is_gone) {
    auto settings = muster::test::connection_settings();
    settings.urls = {"unix:/nowhere/mysql.sock"};
    BOOST_TEST(kind_of([&] { Client client(settings); }) == Kind::Gone);
    settings.urls.clear();
    BOOST_TEST(kind_of([&] { Client client(settings); }) == Kind::Gone);
}

BOOST_AUTO_TEST_CASE(the_servers_of_the_list_are_tried_in_order) {
    auto settings = muster::test::connection_settings();
    settings.urls.insert(settings.urls.begin(), "unix:/nowhere/mysql.sock");
    Client client(settings);
    BOOST_TEST(client.number("SELECT 1") == 1);
}

BOOST_AUTO_TEST_CASE(error_numbers_are_classified_by_the_possible_reaction) {
    for (const int number : {1062, 1586}) {
        BOOST_TEST(muster::db::kind_of_error(number) == Kind::Duplicate, number);
    }
    for (const int number : {1213, 3101}) {
        BOOST_TEST(muster::db::kind_of_error(number) == Kind::Deadlock, number);
    }
    BOOST_TEST(muster::db::kind_of_error(1205) == Kind::LockTimeout);
    for (const int number :
         {1053, 1461, 1927, 2002, 2006, 2013, 2026, 2030, 1047, 1180, 1290, 3168, 3169, 4031}) {
        BOOST_TEST(muster::db::kind_of_error(number) == Kind::Gone, number);
    }
    for (const int number : {1406, 1264, 1048, 1366, 1452, 1644, 3819, 4025}) {
        BOOST_TEST(muster::db::kind_of_error(number) == Kind::BadData, number);
    }
    for (const int number : {0, 1064, 1146, 1045}) {
        BOOST_TEST(muster::db::kind_of_error(number) == Kind::Other, number);
    }
}

BOOST_AUTO_TEST_SUITE_END()
