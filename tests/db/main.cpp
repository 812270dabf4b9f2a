// The database tests' main(): creates the schema once, in its own database, which is dropped at the
// end. Usage: tests/db/with-database build/db-tests [Boost.Test's options]
#define BOOST_TEST_MODULE muster_db
#include "base/log.hpp"
#include "db/fixture.hpp"
#include "service/operations/schema.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>

namespace {

struct TestDatabase {
    TestDatabase() {
        muster::set_log_level(muster::LogLevel::Error);
        muster::db::load_driver();
        muster::test::DatabaseContext worker;
        if (!muster::service::initialize_schema(without_database(), worker.context)) {
            throw std::runtime_error("the database of the tests exists already");
        }
    }
    ~TestDatabase() {
        without_database().run("DROP DATABASE " + muster::test::settings().database.name);
    }
    TestDatabase(const TestDatabase&) = delete;
    TestDatabase& operator=(const TestDatabase&) = delete;

  private:
    static muster::db::Database& without_database() {
        static muster::db::Database database = [] {
            auto settings = muster::test::connection_settings();
            settings.database.clear();
            return muster::db::Database(settings);
        }();
        return database;
    }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(TestDatabase);
