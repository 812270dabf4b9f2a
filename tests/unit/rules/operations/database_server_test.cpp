// rules/operations/database_server.hpp: which servers are suitable, and the faults of others.
#include "rules/operations/database_server.hpp"

#include "print.hpp"

using muster::rules::DatabaseServer;
using muster::rules::faults_of;
using muster::rules::name_of;

namespace {

DatabaseServer fit(bool is_mariadb = true) {
    return {is_mariadb,
            is_mariadb ? "10.11.6-MariaDB-0+deb12u1" : "9.7.4-1",
            {{"innodb_flush_log_at_trx_commit", "1"},
             {"sync_binlog", "1"},
             {"log_bin", "ON"},
             {"binlog_format", "ROW"},
             {"max_allowed_packet", "16777216"},
             {"max_prepared_stmt_count", "16382"},
             {"read_only", "OFF"}}};
}

DatabaseServer with(std::string_view name, const char* value, bool is_mariadb = true) {
    DatabaseServer server = fit(is_mariadb);
    server.settings[std::string(name)] = value;
    return server;
}

// The single fault begins with this text; "": there is no fault.
void check(const DatabaseServer& server, std::string_view beginning) {
    const auto faults = faults_of(server);
    BOOST_TEST_REQUIRE(faults.size() == (beginning.empty() ? 0U : 1U));
    if (!faults.empty()) BOOST_TEST(faults[0].starts_with(beginning), faults[0]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(database_server)

BOOST_AUTO_TEST_CASE(a_server_reports_its_name) {
    BOOST_TEST(name_of(fit()) == "MariaDB 10.11.6-MariaDB-0+deb12u1");
    BOOST_TEST(name_of(fit(false)) == "MySQL 9.7.4-1");
}

BOOST_AUTO_TEST_CASE(suitable_servers_have_no_faults) {
    check(fit(), "");
    check(fit(false), "");
    check({true, "11.8.2-MariaDB", {}}, "");
}

BOOST_AUTO_TEST_CASE(versions_have_a_minimum) {
    for (const char* version : {"10.11.0-MariaDB", "10.12.1", "11.4.2-MariaDB", "12.0"}) {
        check({true, version, {}}, "");
    }
    for (const char* version : {"10.6.12-MariaDB", "5.5.68-MariaDB", "", "x", "10"}) {
        check({true, version, {}}, "MariaDB " + std::string(version) + " is older than 10.11");
    }
    for (const char* version : {"8.4.0", "9.7.4-1", "10.0.0"}) {
        check({false, version, {}}, "");
    }
    check({false, "8.0.44-log", {}}, "MySQL 8.0.44-log is older than 8.4");
}

BOOST_AUTO_TEST_CASE(settings_that_lose_data_at_a_power_failure_are_reported) {
    for (const char* value : {"0", "2"}) {
        for (const bool is_mariadb : {true, false}) {
            check(with("innodb_flush_log_at_trx_commit", value, is_mariadb),
                  "innodb_flush_log_at_trx_commit is " + std::string(value) + ":");
        }
    }
    check(with("innodb_flush_log_at_trx_commit", "3"), "");
    check(with("sync_binlog", "0"), "sync_binlog is 0 ");
    check(with("sync_binlog", "100"), "sync_binlog is 100 ");
    auto without_log = with("sync_binlog", "0");
    without_log.settings["log_bin"] = "OFF";
    check(without_log, "");
}

BOOST_AUTO_TEST_CASE(settings_that_break_changes_are_reported) {
    check(with("binlog_format", "STATEMENT"), "binlog_format is STATEMENT:");
    check(with("binlog_format", "MIXED"), "");
    auto without_log = with("binlog_format", "STATEMENT");
    without_log.settings["log_bin"] = "OFF";
    check(without_log, "");
    check(with("max_allowed_packet", "16777215"), "max_allowed_packet is 16777215 bytes:");
    check(with("max_allowed_packet", "67108864"), "");
    check(with("max_prepared_stmt_count", "16381"), "max_prepared_stmt_count is 16381:");
    check(with("max_prepared_stmt_count", "100000"), "");
    check(with("read_only", "ON"), "read_only is ON:");
}

BOOST_AUTO_TEST_CASE(an_address_on_another_host_without_tls_is_reported) {
    using muster::rules::encryption_warning;
    for (const std::string url :
         {"tcp://db1.example.org:3306", "tcp://10.0.0.7:3306", "tcp://[2001:db8::1]:3306"}) {
        const std::string warning = encryption_warning({"unix:/run/mysqld/mysqld.sock", url}, "");
        BOOST_TEST(warning.starts_with("the connection to " + url.substr(6) + " is not encrypted"));
        BOOST_TEST(warning.find("database.tls_ca") != std::string::npos);
        BOOST_TEST(encryption_warning({url}, "/etc/muster/database-ca.pem") == "");
    }
    for (const std::string url : {"unix:/run/mysqld/mysqld.sock", "tcp://127.0.0.1:3306",
                                  "tcp://localhost:3306", "tcp://[::1]:3306"}) {
        BOOST_TEST(encryption_warning({url}, "") == "");
    }
}

BOOST_AUTO_TEST_CASE(every_fault_is_reported) {
    DatabaseServer server{false,
                          "5.7.1",
                          {{"innodb_flush_log_at_trx_commit", "0"},
                           {"sync_binlog", "0"},
                           {"log_bin", "ON"},
                           {"binlog_format", "STATEMENT"},
                           {"max_allowed_packet", "1024"},
                           {"max_prepared_stmt_count", "0"},
                           {"read_only", "ON"}}};
    BOOST_TEST(faults_of(server).size() == 7U);
}

BOOST_AUTO_TEST_SUITE_END()
