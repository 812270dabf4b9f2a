// check_readiness(): the reason why the database cannot be used, for musterd, muster-run and
// /readyz.
#include "db/fixture.hpp"
#include "service/failure.hpp"
#include "service/operations/schema.hpp"

#include "print.hpp"

#include <string>

using muster::service::check_readiness;
using muster::service::Readiness;

namespace {

std::string problem_with(const muster::db::ConnectionSettings& connection) {
    muster::test::DatabaseContext unusable(connection);
    const auto report = check_readiness(unusable.context);
    BOOST_TEST((report.state == Readiness::DatabaseUnavailable));
    return report.problem;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(readiness)

BOOST_AUTO_TEST_CASE(a_missing_server_and_a_rejected_user_have_different_reasons) {
    auto connection = muster::test::connection_settings();
    connection.urls = {"unix:/nowhere/mysql.sock"};
    BOOST_TEST(problem_with(connection) ==
               "the database does not answer: check database.url in the configuration");
    connection = muster::test::connection_settings();
    connection.user = "no_such_user";
    connection.password = muster::Secret("s3cret");
    const std::string problem = problem_with(connection);
    BOOST_TEST(problem.starts_with("access denied for database.user: check its password"), problem);
    BOOST_TEST(problem.find("s3cret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_user_without_grants_in_the_database_may_be_a_wrong_name) {
    const muster::db::DbError refused(muster::db::DbError::Kind::Gone, 1044, "connect: denied");
    BOOST_TEST(muster::service::explained(refused).find("database.name is wrong") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_privilege_for_data_and_one_for_the_schema_have_different_advice) {
    using muster::db::DbError;
    const auto advice = [](const std::string& command) {
        return muster::service::explained(DbError(
            DbError::Kind::Other, 1142, command + " command denied to user 'm'@'h' for table `t`"));
    };
    for (const char* command : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
        BOOST_TEST(advice(command).starts_with("database.user lacks a privilege ("), command);
    }
    for (const char* command : {"ALTER", "CREATE", "INDEX", "TRIGGER"}) {
        BOOST_TEST(advice(command).starts_with("database.user may not change the schema"), command);
    }
}

BOOST_AUTO_TEST_CASE(a_missing_index_is_a_fault_of_the_schema) {
    const muster::db::DbError missing(muster::db::DbError::Kind::Other, 1176,
                                      "Key 'email' doesn't exist in table 'users'");
    BOOST_TEST(muster::service::explained(missing).starts_with("the schema does not match"));
}

BOOST_AUTO_TEST_SUITE_END()
