// Upgrades lose no data: a database of each earlier version, with rows in every table, gets the
// schema of a new one and keeps every value.
#include "db/upgrade_database.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include "print.hpp"

#include <map>

using namespace muster::test;
namespace service = muster::service;

namespace {

constexpr int kRows = 3;  // in each table

struct Column {
    std::string name;
    std::string value;  // in row number `n`
};
using Table = std::vector<Column>;

// A column that is an id has the same value in all tables, so that every reference is valid.
std::string value_for(const std::string& type, const std::string& column_type, int length) {
    const std::string bytes = std::to_string(length);
    if (type == "binary" && length == 16) return "UNHEX(LEFT(SHA2(n, 256), 32))";
    if (type.ends_with("binary") || type.ends_with("blob")) {
        return "LEFT(UNHEX(SHA2(n, 256)), " + std::to_string(std::min(length, 32)) + ")";
    }
    if (type == "enum") return column_type.substr(5, column_type.find_first_of(",)") - 5);
    if (type.ends_with("int")) return "n";
    return "LEFT(CONCAT(n, 'Wörter'), " + bytes + ")";
}

// All tables and their columns, except generated ones.
std::map<std::string, Table> tables_of(Client& client) {
    std::map<std::string, Table> tables;
    auto rows = client.query(
        "SELECT table_name, column_name, data_type, column_type, "
        "LEAST(COALESCE(character_maximum_length, 0), 100) FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name <> 'schema_version' "
        "AND extra NOT LIKE '%GENERATED%' ORDER BY table_name, ordinal_position");
    while (rows.next()) {
        tables[rows.bytes(1)].push_back(
            {rows.bytes(2),
             value_for(rows.bytes(3), rows.bytes(4), static_cast<int>(rows.integer(5)))});
    }
    return tables;
}

std::string list_of(const Table& table, std::string Column::*part) {
    std::string list;
    for (const Column& column : table) list += (list.empty() ? "" : ", ") + column.*part;
    return list;
}

void fill(Client& client, const std::map<std::string, Table>& tables) {
    client.run("SET FOREIGN_KEY_CHECKS = 0");  // their order
    for (const auto& [name, columns] : tables) {
        for (int n = 1; n <= kRows; ++n) {
            client.run("INSERT INTO " + name + " (" + list_of(columns, &Column::name) +
                       ") SELECT " + list_of(columns, &Column::value) + " FROM (SELECT " +
                       std::to_string(n) + " AS n) AS number");
        }
    }
    client.run("SET FOREIGN_KEY_CHECKS = 1");
}

// The rows of these columns, sorted.
Lines rows_of(Client& client, const std::string& name, const Table& columns) {
    std::string cells = "'|'";
    for (const Column& column : columns) cells += ", COALESCE(HEX(" + column.name + "), 'NULL')";
    return client.column("SELECT HEX(CONCAT_WS(" + cells + ")) FROM " + name + " ORDER BY 1");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_history)

BOOST_DATA_TEST_CASE(
    a_filled_database_of_an_earlier_version_gets_the_current_schema_and_keeps_its_data,
    boost::unit_test::data::xrange(1, kNewest), from) {
    UpgradeDatabase target("_history");
    target.run_all("tests/data/schema-" + std::to_string(from) + ".sql");
    for (int version = 1; version <= from; ++version) target.client->run(recorded(version));
    const auto tables = tables_of(*target.client);
    fill(*target.client, tables);
    std::map<std::string, Lines> before;
    for (const auto& [name, columns] : tables)
        before[name] = rows_of(*target.client, name, columns);

    const auto migration = service::upgrade_schema(*target.context);

    BOOST_TEST(migration.upgrades.size() == kNewest - from);
    BOOST_TEST(migration.version == kNewest);
    check_is_current(target);
    BOOST_TEST(before.size() >= 10);
    for (const auto& [name, columns] : tables) {
        BOOST_TEST(before[name].size() == kRows);
        BOOST_TEST(rows_of(*target.client, name, columns) == before[name], name);
    }
    BOOST_TEST(
        target.client->number("SELECT COUNT(*) FROM members JOIN users ON users.id = user_id AND "
                              "members.email = users.email COLLATE utf8mb4_bin") == kRows);
    BOOST_TEST(service::upgrade_schema(*target.context).upgrades.empty());
}

BOOST_AUTO_TEST_SUITE_END()
