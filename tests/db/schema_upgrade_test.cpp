// service/schema.hpp upgrade_schema: a database of any earlier version comes out as a new one would
// be, with its data, wherever an earlier run broke off, and whoever else runs one.
#include "db/house.hpp"
#include "service/schema.hpp"
#include "store/schema.hpp"
#include "unit/client/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

using muster::db::DbError;
using muster::test::Client;
using muster::test::until;
namespace service = muster::service;
namespace store = muster::store;

namespace {

using Lines = std::vector<std::string>;

Lines statements_in(const std::string& file) {
    std::ifstream in(muster::test::source_root() + "/" + file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return store::statements_of(text);
}

constexpr int kNewest = store::kSchemaVersion;

// Of all upgrades from version 1 on, in their order.
struct Step {
    int version = 0;
    std::string statement;
};
std::vector<Step> upgrade_steps() {
    std::vector<Step> steps;
    for (int version = 2; version <= kNewest; ++version) {
        for (auto& statement : statements_in("sql/upgrades/" + std::to_string(version) + ".sql")) {
            steps.push_back({version, std::move(statement)});
        }
    }
    return steps;
}

std::string recorded(int version) {
    return "INSERT INTO schema_version VALUES (" + std::to_string(version) + ", 1)";
}

// A database of its own, empty.
class Place {
  public:
    explicit Place(const std::string& suffix) {
        settings.database_name += suffix;
        auto without = muster::test::connection_settings();
        without.database.clear();
        Client(without).run(store::create_database_statement(settings.database_name));
        client.emplace(connection());
        database.emplace(connection());
        context.emplace(service::Context{*database, settings, muster::rules::CursorSealer("k"),
                                         muster::KeyRing(settings.security_key)});
    }
    ~Place() { client->run("DROP DATABASE " + settings.database_name); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    muster::db::ConnectionSettings connection() const {
        auto made = muster::test::connection_settings();
        made.database = settings.database_name;
        return made;
    }
    // What another program would do meanwhile, over a connection of its own.
    std::vector<service::AppliedUpgrade> upgrade_elsewhere() {
        muster::db::Database other(connection());
        service::Context its{other, settings, muster::rules::CursorSealer("k"),
                             muster::KeyRing(settings.security_key)};
        return service::upgrade_schema(its);
    }

    muster::Settings settings = muster::test::settings();
    std::optional<Client> client;
    std::optional<muster::db::Database> database;
    std::optional<service::Context> context;
};

// 10^digits numbers from 0 on, as `numbers (n)`.
std::string numbers(int digits) {
    std::string sum = "0";
    std::string tables;
    for (int digit = 0; digit < digits; ++digit) {
        const std::string name = "d" + std::to_string(digit);
        sum = name + ".n + 10 * (" + sum + ")";
        tables += (digit > 0 ? ", digits " : "digits ") + name;
    }
    std::string digit = "SELECT 0 AS n";
    for (int n = 1; n < 10; ++n) digit += " UNION ALL SELECT " + std::to_string(n);
    return "WITH digits AS (" + digit + "), numbers AS (SELECT " + sum + " AS n FROM " + tables +
           ") ";
}

// A database of version 1 with two organizations and 10^digits people.
struct OldPlace : Place {
    explicit OldPlace(int digits = 1) : Place("_old") {
        for (const std::string& statement : statements_in("tests/data/schema-1.sql")) {
            client->run(statement);
        }
        client->run("INSERT INTO schema_version VALUES (1, 1)");
        client->run(
            "INSERT INTO organizations VALUES (REPEAT('a', 16), 'A', 1), "
            "(REPEAT('b', 16), 'B', 2)");
        client->run("INSERT INTO admins VALUES (REPEAT('c', 16), 'admin@example.org', 1)");
        client->run("INSERT INTO seats VALUES (REPEAT('a', 16), REPEAT('c', 16), 'owner', 1)");
        client->run(
            "INSERT INTO attributes VALUES (REPEAT('a', 16), REPEAT('d', 16), 'size', "
            "'Größe', 'text', NULL, 1, 1, 1)");
        client->run("INSERT INTO users " + numbers(digits) +
                    "SELECT UNHEX(MD5(n)), CONCAT('p', n, '@example.org'), n FROM numbers");
        for (const std::string organization : {"a", "b"}) {
            client->run(
                "INSERT INTO members (organization_id, user_id, id, external_id, first_name, "
                "last_name, display_name, attributes, created_at, updated_at) " +
                numbers(digits) + "SELECT REPEAT('" + organization +
                "', 16), UNHEX(MD5(n)), UNHEX(MD5(CONCAT('m', n))), CONCAT('x', n), "
                "IF(n % 3 = 0, NULL, 'Zoë'), IF(n % 5 = 0, NULL, CONCAT('Öz ', n)), "
                "IF(n % 7 = 1, 'The Captain', NULL), '{}', 1, n FROM numbers");
        }
        client->run(
            "INSERT INTO api_keys (organization_id, id, name, secret_hash, last_four, "
            "created_by, created_at) VALUES (REPEAT('a', 16), REPEAT('e', 16), 'k', "
            "REPEAT('f', 32), 'wxyz', REPEAT('c', 16), 1)");
        client->run(
            "INSERT INTO idempotency_keys VALUES (REPEAT('a', 16), REPEAT('g', 32), "
            "REPEAT('h', 32), 201, '/v1/x', '{}', 1, 2)");
    }
};

// All that the server tells about the tables.
Lines described(Client& client) {
    Lines all;
    for (const std::string query : {
             "SELECT CONCAT_WS('|', table_name, engine, table_collation, row_format, "
             "create_options) FROM information_schema.tables WHERE table_schema = DATABASE()",
             "SELECT CONCAT_WS('|', table_name, ordinal_position, column_name, column_type, "
             "is_nullable, COALESCE(column_default, 'none'), COALESCE(character_set_name, '-'), "
             "COALESCE(collation_name, '-'), extra, COALESCE(generation_expression, '-')) "
             "FROM information_schema.columns WHERE table_schema = DATABASE()",
             "SELECT CONCAT_WS('|', table_name, index_name, non_unique, seq_in_index, column_name, "
             "COALESCE(sub_part, '-'), nullable, index_type) "
             "FROM information_schema.statistics WHERE table_schema = DATABASE()",
             "SELECT CONCAT_WS('|', table_name, constraint_name, constraint_type) "
             "FROM information_schema.table_constraints WHERE table_schema = DATABASE()",
             "SELECT CONCAT_WS('|', table_name, constraint_name, ordinal_position, column_name, "
             "COALESCE(referenced_table_name, '-'), COALESCE(referenced_column_name, '-')) "
             "FROM information_schema.key_column_usage WHERE table_schema = DATABASE()",
             "SELECT CONCAT_WS('|', table_name, constraint_name, update_rule, delete_rule) "
             "FROM information_schema.referential_constraints "
             "WHERE constraint_schema = DATABASE()",
         }) {
        const Lines lines = client.column(query + " ORDER BY 1");
        BOOST_TEST(!lines.empty());
        all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
}

const Lines& described_anew() {
    static const Lines lines = [] {
        Client client;  // the tests' own database, made from schema.sql
        return described(client);
    }();
    return lines;
}

void check_is_current(Place& place) {
    BOOST_TEST(described(*place.client) == described_anew(), boost::test_tools::per_element());
    Lines versions;
    for (int version = 1; version <= kNewest; ++version)
        versions.push_back(std::to_string(version));
    BOOST_TEST(place.client->column("SELECT version FROM schema_version ORDER BY version") ==
               versions);
    BOOST_TEST(service::check_readiness(*place.context).problem == "");
}

void check_data_is_right(OldPlace& place, int people) {
    Client& client = *place.client;
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members JOIN users ON users.id = user_id "
                             "WHERE members.email = users.email COLLATE utf8mb4_bin") ==
               2 * people);
    BOOST_TEST(client.column("SELECT COALESCE(search_name, 'NULL') FROM members "
                             "WHERE organization_id = REPEAT('b', 16) AND updated_at < 9 "
                             "ORDER BY updated_at") ==
               Lines({"", "The Captain", "Zoë Öz 2", "Öz 3", "Zoë Öz 4", "Zoë", "Öz 6", "Zoë Öz 7",
                      "The Captain"}));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM members WHERE organization_id = REPEAT('a', 16) "
                             "AND search_name LIKE 'ZOE oz 2%' AND email LIKE 'P2%'") > 0);
    BOOST_TEST(
        client.column("SELECT CONCAT_WS(' ', name, last_four, COALESCE(rate_per_second, '-'), "
                      "COALESCE(burst, '-')) FROM api_keys") == Lines({"k wxyz - -"}));
    BOOST_TEST(client.column("SELECT CONCAT_WS(' ', status, location, body, sealed, expires_at) "
                             "FROM idempotency_keys") == Lines({"201 /v1/x {} 0 2"}));
    BOOST_TEST(client.column("SELECT CONCAT_WS(' ', email, COALESCE(totp_secret, '-'), "
                             "totp_last_step, second_factor_failures, created_at) FROM admins") ==
               Lines({"admin@example.org - 0 0 1"}));
    BOOST_TEST(client.column("SELECT label FROM attributes") == Lines({"Größe"}));
}

bool says(const std::exception& error, std::string_view words) {
    return std::string_view(error.what()).find(words) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_upgrade)

BOOST_AUTO_TEST_CASE(a_database_of_version_1_becomes_what_a_new_one_is) {
    OldPlace place(4);  // more than the batches of two transactions
    BOOST_TEST(service::check_readiness(*place.context).problem.find("musterctl db migrate") !=
               std::string::npos);
    const auto applied = service::upgrade_schema(*place.context);
    BOOST_TEST_REQUIRE(applied.size() == kNewest - 1);
    std::size_t statements = 0;
    for (std::size_t i = 0; i < applied.size(); ++i) {
        BOOST_TEST(applied[i].version == static_cast<int>(i) + 2);
        BOOST_TEST(applied[i].done_before == 0);
        statements += applied[i].statements;
    }
    BOOST_TEST(statements == upgrade_steps().size());
    check_is_current(place);
    check_data_is_right(place, 10'000);
    BOOST_TEST(service::upgrade_schema(*place.context).empty());
}

BOOST_AUTO_TEST_CASE(a_database_of_version_2_becomes_what_a_new_one_is) {
    Place place("_second");
    for (const std::string& statement : statements_in("tests/data/schema-2.sql")) {
        place.client->run(statement);
    }
    for (const int version : {1, 2}) place.client->run(recorded(version));
    place.client->run("INSERT INTO organizations VALUES (REPEAT('a', 16), 'A', 1)");
    BOOST_TEST(service::upgrade_schema(*place.context).size() == kNewest - 2);
    check_is_current(place);
    BOOST_TEST(place.client->column("SELECT name FROM organizations") == Lines({"A"}));
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_broke_off_after_any_statement_is_finished_by_the_next) {
    const std::vector<Step> steps = upgrade_steps();
    for (std::size_t done = 1; done <= steps.size(); ++done) {
        BOOST_TEST_CONTEXT("after statement " << done) {
            OldPlace place;
            const int at = steps[done - 1].version;
            for (int version = 2; version < at; ++version) place.client->run(recorded(version));
            for (std::size_t i = 0; i < done; ++i) place.client->run(steps[i].statement);
            BOOST_TEST(service::upgrade_schema(*place.context).size() == kNewest - at + 1);
            check_is_current(place);
            check_data_is_right(place, 10);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_broke_off_between_two_batches_is_finished_by_the_next) {
    OldPlace place(4);
    for (const Step& step : upgrade_steps()) {
        place.client->run(step.statement);
        if (step.statement.starts_with("UPDATE ")) break;
    }
    const std::int64_t left = place.client->number("SELECT COUNT(*) FROM members WHERE email = ''");
    BOOST_TEST(left > 0);
    BOOST_TEST(left < 20'000);
    BOOST_TEST(service::upgrade_schema(*place.context).at(0).done_before > 0);
    check_is_current(place);
    check_data_is_right(place, 10'000);
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_loses_its_connection_goes_on_and_keeps_others_out) {
    OldPlace place;
    Client holder(place.connection());
    Client watcher;
    holder.run("START TRANSACTION");
    holder.value("SELECT COUNT(*) FROM admins");  // the upgrade's ALTER waits for its end
    const auto waiting = [&] {
        return watcher.column(
            "SELECT id FROM information_schema.processlist "
            "WHERE db = ? AND state LIKE 'Waiting for table metadata lock%'",
            place.settings.database_name);
    };
    auto running =
        std::async(std::launch::async, [&] { return service::upgrade_schema(*place.context); });
    BOOST_TEST(until([&] { return waiting().size() == 1; }));
    BOOST_CHECK_EXCEPTION(place.upgrade_elsewhere(), std::runtime_error,
                          [](const auto& error) { return says(error, "another"); });
    const Lines lost = waiting();
    BOOST_TEST_REQUIRE(lost.size() == 1);
    watcher.kill(std::stoll(lost[0]));
    BOOST_TEST(until([&] { return waiting().size() == 1 && waiting() != lost; }));
    holder.run("COMMIT");
    BOOST_TEST(running.get().at(0).done_before > 0);
    check_is_current(place);
    check_data_is_right(place, 10);
    BOOST_TEST(place.upgrade_elsewhere().empty());  // the lock is free again
}

BOOST_AUTO_TEST_CASE(
    what_fails_for_any_other_reason_is_told_with_its_place_and_is_not_passed_over) {
    OldPlace place;
    muster::test::Scratch scratch;
    place.settings.sql_directory = scratch.file("");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*place.context), std::runtime_error,
                          [](const auto& error) { return says(error, "upgrades/2.sql"); });
    std::filesystem::create_directory(scratch.file("upgrades"));
    for (int version = 3; version <= kNewest; ++version) {
        scratch.write("upgrades/" + std::to_string(version) + ".sql",
                      "ALTER TABLE members ADD COLUMN c INT NULL;\n");
    }
    const std::string first = "ALTER TABLE members ADD COLUMN a INT NULL;\n";
    scratch.write("upgrades/2.sql", first + "ALTER TABLE nowhere ADD COLUMN a INT NULL;\n");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*place.context), DbError,
                          [](const DbError& error) {
                              return error.number() == 1146 &&
                                     says(error, "upgrade to version 2, statement 2 of 2: ");
                          });
    BOOST_TEST(place.client->column("SELECT version FROM schema_version") == Lines({"1"}));
    scratch.write("upgrades/2.sql", first + "ALTER TABLE members ADD COLUMN b INT NULL;\n");
    BOOST_TEST(service::upgrade_schema(*place.context).at(0).done_before == 1);
}

BOOST_AUTO_TEST_CASE(without_a_schema_or_with_a_newer_one_nothing_is_upgraded) {
    Place place("_none");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*place.context), std::runtime_error,
                          [](const auto& error) { return says(error, "musterctl db init"); });
    place.client->run("CREATE TABLE schema_version (version INT, applied_at BIGINT)");
    place.client->run("INSERT INTO schema_version VALUES (999, 1)");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*place.context), std::runtime_error,
                          [](const auto& error) { return says(error, "newer"); });
}

BOOST_AUTO_TEST_SUITE_END()
