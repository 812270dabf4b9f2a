// store/operations/accounts.hpp, store/operations/server.hpp: the text of statements that cannot be
// prepared, for both engines, and the properties of a server.
#include "store/operations/accounts.hpp"

#include "db/fixture.hpp"
#include "rules/operations/database_server.hpp"
#include "store/operations/server.hpp"

#include "print.hpp"

#include <stdexcept>

namespace store = muster::store;
using muster::Secret;
using store::Account;
using store::ServerKind;

BOOST_AUTO_TEST_SUITE(accounts)

BOOST_AUTO_TEST_CASE(account_names_are_letters_digits_and_underscores) {
    for (const std::string_view name :
         {"muster", "a", "_", "Muster_2", "12345678901234567890123456789012"}) {
        BOOST_TEST(store::is_account_name(name), name);
    }
    for (const std::string_view name : {"", "a b", "a'b", "a`b", "a\\", "a-b", "a.b", "a%", "ä",
                                        "123456789012345678901234567890123"}) {
        BOOST_TEST(!store::is_account_name(name), name);
        BOOST_CHECK_THROW(static_cast<void>(store::grant_statement({"a", "%"}, name)),
                          std::invalid_argument);
        BOOST_CHECK_THROW(static_cast<void>(store::use_statement(name)), std::invalid_argument);
        const Account account{std::string(name), "%"};
        BOOST_CHECK_THROW(static_cast<void>(store::create_account_statement(account, "")),
                          std::invalid_argument);
        BOOST_CHECK_THROW(static_cast<void>(store::alter_account_statement(account, "")),
                          std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(hosts_are_names_addresses_and_patterns) {
    for (const std::string_view host :
         {"localhost", "%", "10.0.%", "10.0.0.0/255.0.0.0", "fe80::1", "db-1.example"}) {
        BOOST_TEST(store::is_account_host(host), host);
    }
    for (const std::string_view host : {"", "a'b", "a b", "a\\", "a@b"}) {
        BOOST_TEST(!store::is_account_host(host), host);
        BOOST_CHECK_THROW(static_cast<void>(store::revoke_statement(ServerKind::MySql,
                                                                    {"a", std::string(host)}, "m")),
                          std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(each_engine_gets_its_own_syntax) {
    const Account local{"muster", "localhost"};
    const Account far{"muster", "%", true};
    BOOST_TEST(
        store::create_account_statement(local, store::by_system_user(ServerKind::MariaDb)) ==
        "CREATE USER IF NOT EXISTS 'muster'@'localhost' IDENTIFIED VIA unix_socket REQUIRE NONE");
    BOOST_TEST(store::alter_account_statement(local, store::by_system_user(ServerKind::MySql)) ==
               "ALTER USER 'muster'@'localhost' IDENTIFIED WITH auth_socket REQUIRE NONE");
    BOOST_TEST(store::create_account_statement(
                   far, store::by_password(ServerKind::MySql, Secret("it's\\"))) ==
               "CREATE USER IF NOT EXISTS 'muster'@'%' IDENTIFIED BY 'it\\'s\\\\' REQUIRE SSL");
    BOOST_TEST(store::grant_statement(far, "a_b") ==
               "GRANT SELECT, INSERT, UPDATE, DELETE ON `a\\_b`.* TO 'muster'@'%'");
    const auto on_mysql = store::revoke_statement(ServerKind::MySql, far, "m");
    BOOST_TEST(on_mysql.starts_with("REVOKE IF EXISTS CREATE, "));
    BOOST_TEST(on_mysql.find("HISTORY") == std::string::npos);
    const auto on_mariadb = store::revoke_statement(ServerKind::MariaDb, far, "m");
    BOOST_TEST(on_mariadb.starts_with("REVOKE CREATE, "));
}

namespace {

// By a feature that only it has, not by its name.
struct Server : muster::test::Client {
    bool is_mariadb() {
        return number("SELECT COUNT(*) FROM information_schema.engines WHERE engine = 'Aria'") == 1;
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_password_is_hashed_like_mariadb_does, Server) {
    if (!is_mariadb()) return;  // only MariaDB has the function
    for (const std::string password : {"x", "s3cret", "it's \\ ä"}) {
        const std::string mine = store::by_password(ServerKind::MariaDb, Secret(password));
        BOOST_TEST(mine == "VIA mysql_native_password USING '" +
                               value("SELECT PASSWORD(?)", password) + "'");
    }
}

BOOST_FIXTURE_TEST_CASE(a_server_reports_its_properties, muster::test::DatabaseContext) {
    database.autocommit([](muster::db::Tx& tx) {
        const auto server = store::describe_server(tx);
        const bool is_mariadb = Server().is_mariadb();
        BOOST_TEST((server.kind == ServerKind::MariaDb) == is_mariadb);
        BOOST_TEST(muster::rules::faults_of({is_mariadb, server.version, {}}).empty());
        BOOST_TEST(server.cipher == "");
        BOOST_TEST(store::may_change_schema(tx));
        const auto apart = store::server_time(tx) - muster::Timestamp::now();
        BOOST_TEST(std::abs(apart.count()) < 2'000);
    });
}

BOOST_AUTO_TEST_SUITE_END()
