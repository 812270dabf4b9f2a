// sql/schema.sql on the server: rows cannot refer to another tenant, texts compare byte by byte,
// and applying the schema twice is harmless.
#include "service/operations/schema.hpp"
#include "db/fixture.hpp"
#include "store/operations/schema.hpp"

#include "print.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

using muster::Uuid;
using muster::rules::SchemaFit;
using muster::test::Client;
using muster::test::Fixture;
using muster::test::kind_of;
namespace service = muster::service;
namespace store = muster::store;

namespace {

using Names = std::vector<std::string>;

std::vector<std::string> schema_statements() {
    std::ifstream in(muster::test::source_root() + "/sql/schema.sql");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return store::statements_of(text);
}

// The whole schema as the server reports it.
Names described(Client& client) {
    return client.column(
        "SELECT CONCAT_WS(' ', table_name, column_name, column_type, is_nullable, column_default) "
        "FROM information_schema.columns WHERE table_schema = DATABASE() "
        "ORDER BY table_name, ordinal_position");
}

// A second, empty database.
struct OtherDatabase {
    OtherDatabase() {
        settings.database.name += "_other";
        auto connection = muster::test::connection_settings();
        connection.database = settings.database.name;
        database.emplace(connection);
        connection.database.clear();
        without.emplace(connection);
        context.emplace(
            service::Context{*database, settings, muster::KeyRing(settings.security.key)});
    }
    ~OtherDatabase() { without->run("DROP DATABASE IF EXISTS " + settings.database.name); }
    OtherDatabase(const OtherDatabase&) = delete;
    OtherDatabase& operator=(const OtherDatabase&) = delete;

    muster::Settings settings = muster::test::settings();
    std::optional<muster::db::Database> database;
    std::optional<muster::db::Database> without;
    std::optional<service::Context> context;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(schema)

// ---------------------------------------------------------------------------- tenancy

BOOST_FIXTURE_TEST_CASE(a_unique_key_of_each_tenant_table_begins_with_the_organization, Client) {
    const auto others = column(
        "SELECT c.table_name FROM information_schema.columns c "
        "LEFT JOIN information_schema.statistics s ON s.table_schema = c.table_schema "
        "AND s.table_name = c.table_name AND s.non_unique = 0 AND s.seq_in_index = 1 "
        "AND s.column_name = 'organization_id' WHERE c.table_schema = DATABASE() "
        "AND c.column_name = 'organization_id' AND s.table_name IS NULL");
    BOOST_TEST(others == Names());
    BOOST_TEST(tenant_tables().size() >= 7);
}

BOOST_FIXTURE_TEST_CASE(a_tenant_table_references_an_existing_organization, Client) {
    const auto linked = column(
        "SELECT DISTINCT k.table_name FROM information_schema.key_column_usage k "
        "WHERE k.table_schema = DATABASE() AND k.column_name = 'organization_id' "
        "AND k.referenced_column_name IN ('id', 'organization_id') ORDER BY k.table_name");
    BOOST_TEST(linked == tenant_tables());
}

BOOST_FIXTURE_TEST_CASE(a_link_between_tenant_tables_includes_the_organization, Client) {
    const auto tables = tenant_tables();
    std::size_t links = 0;
    for (const std::string& name : column(
             "SELECT DISTINCT CONCAT(table_name, '.', constraint_name, '.', referenced_table_name) "
             "FROM information_schema.key_column_usage WHERE table_schema = DATABASE() "
             "AND referenced_table_name IS NOT NULL")) {
        const std::string from = name.substr(0, name.find('.'));
        const std::string to = name.substr(name.rfind('.') + 1);
        const std::string constraint =
            name.substr(from.size() + 1, name.rfind('.') - from.size() - 1);
        const bool is_tenant_s = std::find(tables.begin(), tables.end(), from) != tables.end() &&
                                 std::find(tables.begin(), tables.end(), to) != tables.end();
        if (!is_tenant_s) continue;
        ++links;
        BOOST_TEST(number("SELECT COUNT(*) FROM information_schema.key_column_usage "
                          "WHERE table_schema = DATABASE() AND table_name = ? "
                          "AND constraint_name = ? AND ordinal_position = 1 "
                          "AND column_name = 'organization_id' "
                          "AND referenced_column_name = 'organization_id'",
                          from, constraint) == 1,
                   name);
    }
    BOOST_TEST(links > 0);
}

BOOST_FIXTURE_TEST_CASE(the_database_rejects_a_block_for_the_job_of_another_tenant, Fixture) {
    const auto mine = organization();
    const auto other = organization();
    const Uuid job = Uuid::v7();
    client.execute(
        "INSERT INTO import_jobs (organization_id, id, source, state, mapping, "
        "file_name, declared_total, expires_at, created_at, updated_at) "
        "VALUES (?, ?, 'api', 'staging', '', 'f', 0, 1, 1, 1)",
        mine, job);
    const auto insert = [&](muster::OrgId organization) {
        client.execute(
            "INSERT INTO import_blocks (organization_id, job_id, block_no, part, state, "
            "row_count, staged_at, updated_at, data) "
            "VALUES (?, ?, 0, 0, 'staged', 1, 1, 1, '')",
            organization, job);
    };
    BOOST_TEST(kind_of([&] { insert(other); }) == muster::db::DbError::Kind::BadData);
    insert(mine);
}

// --------------------------------------------------------------------------- engine and collations

BOOST_FIXTURE_TEST_CASE(every_table_is_innodb_in_binary_utf8mb4, Client) {
    const auto others = column(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
        "AND (engine <> 'InnoDB' OR table_collation <> 'utf8mb4_bin')");
    BOOST_TEST(others == Names());
    const auto columns = column(
        "SELECT CONCAT(table_name, '.', column_name) FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND collation_name <> 'utf8mb4_bin' "
        "ORDER BY table_name, column_name");
    // The columns of the prefix search, which ignores case and accents.
    const Names searched = {"articles.title",     "members.display_name", "members.email",
                            "members.first_name", "members.last_name",    "members.search_name"};
    BOOST_TEST(columns == searched);
    BOOST_TEST(value("SELECT default_collation_name FROM information_schema.schemata "
                     "WHERE schema_name = DATABASE()") == "utf8mb4_bin");
}

BOOST_FIXTURE_TEST_CASE(times_are_stored_as_integers, Client) {
    const auto others = column(
        "SELECT CONCAT(table_name, '.', column_name) FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND (data_type IN ('date', 'datetime', "
        "'timestamp', 'time', 'year') OR (column_name LIKE '%\\_at' AND data_type <> 'bigint'))");
    BOOST_TEST(others == Names());
}

// ---------------------------------------------------------------------------- creating the schema

BOOST_FIXTURE_TEST_CASE(applying_the_schema_twice_changes_nothing, Fixture) {
    const auto organization = Fixture::organization();
    const auto before = described(client);
    const auto rows = client.snapshot(organization);
    for (const std::string& statement : schema_statements()) client.run(statement);
    BOOST_TEST(described(client) == before);
    BOOST_TEST(client.snapshot(organization) == rows);
    muster::db::ConnectionSettings without = muster::test::connection_settings();
    without.database.clear();
    muster::db::Database without_database(without);
    BOOST_TEST(!service::initialize_schema(without_database, context));
    BOOST_TEST(client.number("SELECT COUNT(*) FROM schema_version") == 1);
}

BOOST_FIXTURE_TEST_CASE(a_partly_created_schema_is_completed, OtherDatabase) {
    without->run(store::create_database_statement(settings.database.name));
    database->run(schema_statements().front());
    BOOST_TEST(service::schema_status(*context).fit == SchemaFit::None);
    BOOST_TEST(service::initialize_schema(*without, *context));
    const auto standing = service::schema_status(*context);
    BOOST_TEST(standing.fit == SchemaFit::Current);
    BOOST_TEST(standing.installed.value().version == store::kSchemaVersion);
    BOOST_TEST(standing.installed.value().oldest_program ==
               service::schema_file(settings).makes.oldest_program);
    BOOST_TEST(!service::initialize_schema(*without, *context));
}

BOOST_FIXTURE_TEST_CASE(readiness_names_the_problem_and_the_fix, OtherDatabase) {
    using service::Readiness;
    const auto check = [&](Readiness state, std::string_view hint) {
        const auto report = service::check_readiness(*context);
        BOOST_TEST(report.state == state, report.problem);
        BOOST_TEST(report.problem.find(hint) != std::string::npos, report.problem);
    };
    check(Readiness::WrongSchema, "musterctl db init");  // no such database
    without->run(store::create_database_statement(settings.database.name));
    check(Readiness::WrongSchema, "musterctl db init");
    BOOST_TEST(!service::schema_status(*context).installed.has_value());
    service::initialize_schema(*without, *context);
    check(Readiness::Ready, "");
    BOOST_TEST(service::check_readiness(*context).problem == "");
    database->run("INSERT INTO schema_version VALUES (999, 1, 999)");
    check(Readiness::WrongSchema, "install the newer packages on this host");
    database->run("UPDATE schema_version SET oldest_program = NULL WHERE version = 999");
    check(Readiness::WrongSchema, "a program for version 999 or later");
    database->run("UPDATE schema_version SET oldest_program = 6 WHERE version = 999");
    check(Readiness::Ready, "");
    BOOST_TEST(service::schema_status(*context).fit == SchemaFit::NewerUsable);
    database->run("DELETE FROM schema_version");
    database->run("INSERT INTO schema_version VALUES (1, 1, NULL)");
    check(Readiness::WrongSchema, "musterctl db migrate");
    database->run("ALTER TABLE schema_version DROP COLUMN oldest_program");
    check(Readiness::WrongSchema, "musterctl db migrate");
    database->run("DELETE FROM schema_version");
    check(Readiness::WrongSchema, "musterctl db init");
}

BOOST_AUTO_TEST_CASE(readiness_distinguishes_an_unreachable_server_from_a_wrong_schema) {
    auto connection = muster::test::connection_settings();
    connection.urls = {"unix:/nowhere/mysql.sock"};
    muster::test::DatabaseContext away(connection);
    BOOST_TEST(service::check_readiness(away.context).state ==
               service::Readiness::DatabaseUnavailable);
}

BOOST_FIXTURE_TEST_CASE(a_missing_schema_file_is_named, OtherDatabase) {
    settings.files.sql = "/nowhere";
    BOOST_CHECK_EXCEPTION(service::initialize_schema(*without, *context), std::runtime_error,
                          [](const std::runtime_error& error) {
                              return std::string(error.what()).find("/nowhere/schema.sql") !=
                                     std::string::npos;
                          });
}

BOOST_AUTO_TEST_CASE(a_schema_file_is_split_into_statements) {
    const Names expected = {"CREATE TABLE a (\n    b INT\n);\n", "INSERT INTO a VALUES (1);\n"};
    BOOST_TEST(store::statements_of("-- a comment; with a semicolon\n\nCREATE TABLE a ( -- why\n"
                                    "    b INT\n);\n\n  -- more\nINSERT INTO a VALUES (1);\n") ==
               expected);
    BOOST_TEST(store::statements_of("") == Names());
    BOOST_TEST(store::statements_of("-- nothing\n") == Names());
}

BOOST_AUTO_TEST_CASE(a_schema_file_names_the_oldest_program_on_its_own_line) {
    BOOST_TEST(store::oldest_program_in("-- a\n-- oldest program: 7\nSELECT 1;\n") == 7);
    BOOST_TEST(store::oldest_program_in("-- a\nSELECT 1;\n") == std::nullopt);
    BOOST_TEST(store::oldest_program_in("") == std::nullopt);
    for (const std::string_view wrong : {"", " ", " x", " 7x", " -", " 7 8"}) {
        BOOST_CHECK_THROW((void)store::oldest_program_in("-- oldest program:" + std::string(wrong)),
                          std::runtime_error);
    }
}

BOOST_AUTO_TEST_CASE(a_database_name_is_quoted_safely) {
    BOOST_TEST(store::create_database_statement("a-b").find("`a-b`") != std::string::npos);
    for (const std::string_view name : {"", "a`b", "a\\b", "`"}) {
        BOOST_CHECK_THROW((void)store::create_database_statement(name), std::invalid_argument);
    }
}

BOOST_AUTO_TEST_SUITE_END()
