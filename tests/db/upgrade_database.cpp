#include "db/upgrade_database.hpp"

#include "print.hpp"

#include <fstream>
#include <iterator>

namespace muster::test {
namespace {

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

// All that the server reports about the tables.
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
    const Lines triggers = client.column(
        "SELECT CONCAT_WS('|', trigger_name, event_manipulation, event_object_table, "
        "action_timing, action_statement) FROM information_schema.triggers "
        "WHERE trigger_schema = DATABASE() ORDER BY 1");
    all.insert(all.end(), triggers.begin(), triggers.end());
    return all;
}

const Lines& described_new() {
    static const Lines lines = [] {
        Client client;  // the database of the tests, created from schema.sql
        return described(client);
    }();
    return lines;
}

}  // namespace

std::string source_text(const std::string& file) {
    std::ifstream in(source_root() + "/" + file);
    if (!in) throw std::runtime_error("cannot read " + file);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string upgrade_file(int version) {
    return "sql/upgrades/" + std::to_string(version) + ".sql";
}

std::string recorded(int version) {
    return "INSERT INTO schema_version (version, applied_at) VALUES (" + std::to_string(version) +
           ", 1)";
}

UpgradeDatabase::UpgradeDatabase(const std::string& suffix) {
    settings.database.name += suffix;
    auto without = connection_settings();
    without.database.clear();
    Client(without).run(store::create_database_statement(settings.database.name));
    client.emplace(connection());
    database.emplace(connection());
    context.emplace(service::Context{*database, settings, KeyRing(settings.security.key)});
}

UpgradeDatabase::~UpgradeDatabase() {
    client->run("DROP DATABASE " + settings.database.name);
}

db::ConnectionSettings UpgradeDatabase::connection() const {
    auto made = connection_settings();
    made.database = settings.database.name;
    return made;
}

void UpgradeDatabase::run_all(const std::string& file) {
    for (const std::string& statement : store::statements_of(source_text(file))) {
        client->run(statement);
    }
}

service::Migration UpgradeDatabase::upgrade_elsewhere() {
    db::Database other(connection());
    service::Context its{other, settings, KeyRing(settings.security.key)};
    return service::upgrade_schema(its);
}

std::optional<std::int64_t> UpgradeDatabase::upgrading() const {
    Client watcher;
    auto rows =
        watcher.query("SELECT IS_USED_LOCK(CONCAT('muster.schema.', LEFT(SHA2(?, 256), 32)))",
                      settings.database.name);
    rows.next();
    return rows.is_null(1) ? std::nullopt : std::optional(rows.integer(1));
}

OldDatabase::OldDatabase(int digits) : UpgradeDatabase("_old") {
    run_all("tests/data/schema-1.sql");
    client->run(recorded(1));
    client->run(
        "INSERT INTO organizations VALUES (REPEAT('a', 16), 'A', 1), "
        "(REPEAT('b', 16), 'B', 2)");
    client->run("INSERT INTO admins VALUES (REPEAT('c', 16), 'admin@example.org', 1)");
    client->run("INSERT INTO seats VALUES (REPEAT('a', 16), REPEAT('c', 16), 'owner', 1)");
    client->run(
        "INSERT INTO attributes VALUES (REPEAT('a', 16), REPEAT('d', 16), 'size', "
        "'Größe', 'text', NULL, 1, 1, 1)");
    client->run(
        "INSERT INTO users " + numbers(digits) +
        "SELECT UNHEX(LEFT(SHA2(n, 256), 32)), CONCAT('p', n, '@example.org'), n FROM numbers");
    for (const std::string organization : {"a", "b"}) {
        client->run(
            "INSERT INTO members (organization_id, user_id, id, external_id, first_name, "
            "last_name, display_name, attributes, created_at, updated_at) " +
            numbers(digits) + "SELECT REPEAT('" + organization +
            "', 16), UNHEX(LEFT(SHA2(n, 256), 32)), UNHEX(LEFT(SHA2(CONCAT('m', n), 256), 32)), CONCAT('x', n), "
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

NewDatabase::NewDatabase() : UpgradeDatabase("_new") {
    service::make_schema(*database, settings);
}

void check_is_current(UpgradeDatabase& target) {
    BOOST_TEST(described(*target.client) == described_new(), boost::test_tools::per_element());
    Lines versions;
    for (int version = 1; version <= kNewest; ++version)
        versions.push_back(std::to_string(version));
    BOOST_TEST(target.client->column("SELECT version FROM schema_version ORDER BY version") ==
               versions);
    const std::string newest =
        "SELECT CONCAT_WS(' ', version, COALESCE(oldest_program, '-')) FROM schema_version "
        "ORDER BY version DESC LIMIT 1";
    Client fresh;
    BOOST_TEST(target.client->value(newest) == fresh.value(newest));
    BOOST_TEST(service::check_readiness(*target.context).problem == "");
}

void check_data_is_right(OldDatabase& target, int people) {
    Client& client = *target.client;
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

}  // namespace muster::test
