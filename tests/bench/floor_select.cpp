// P4's floor: a streaming SELECT of every field of the staged rows, as a client of the connector
// reads it. Usage: floor_select SOCKET; prints the number of rows and the seconds. Run by
// lib/imports.py.
#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/resultset.h>
#include <cppconn/statement.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>

namespace {

constexpr const char* kSelect =
    "SELECT row_no, state, email, external_id, first_name, last_name, display_name, locale, "
    "country, dob, attributes FROM floor.staged_rows ORDER BY organization_id, job_id, row_no";
constexpr unsigned kColumns = 11;

void read_all(const char* socket) {
    sql::ConnectOptionsMap options;
    options["hostName"] = sql::SQLString("unix://") + socket;
    options["userName"] = sql::SQLString("root");
    options["password"] = sql::SQLString("");
    const std::unique_ptr<sql::Connection> connection(get_driver_instance()->connect(options));
    const std::unique_ptr<sql::Statement> statement(connection->createStatement());
    statement->setResultSetType(
        sql::ResultSet::TYPE_FORWARD_ONLY);  // streams; otherwise the result is buffered

    const auto began = std::chrono::steady_clock::now();
    const std::unique_ptr<sql::ResultSet> result(statement->executeQuery(kSelect));
    long rows = 0;
    std::size_t bytes = 0;
    for (; result->next(); ++rows) {
        for (unsigned column = 1; column <= kColumns; ++column) {
            bytes += result->getString(column).length();
        }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (bytes == 0) rows = 0;
    std::printf("%ld %.4f\n", rows, took.count());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: floor_select SOCKET\n", stderr);
        return 2;
    }
    try {
        read_all(argv[1]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "floor_select: %s\n", error.what());
        return 1;
    }
}
