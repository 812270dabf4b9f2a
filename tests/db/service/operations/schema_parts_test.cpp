// inspect_schema(): finds tables, columns and indexes that a schema of the right version lacks.
#include "store/operations/schema_parts.hpp"
#include "db/fixture.hpp"
#include "service/operations/health.hpp"
#include "service/operations/schema.hpp"
#include "store/operations/schema.hpp"

#include "print.hpp"

#include <algorithm>

using namespace muster;

namespace {

const std::string kRestore = "restore the database from a backup ";
const std::string kGrant = "check the privileges of database.user (SHOW GRANTS), or " + kRestore;

// A database of its own with the whole schema.
struct OwnDatabase {
    OwnDatabase() {
        without.run(store::create_database_statement(settings.database.name));
        service::make_schema(database, settings);
    }
    ~OwnDatabase() { without.run("DROP DATABASE " + settings.database.name); }
    OwnDatabase(const OwnDatabase&) = delete;
    OwnDatabase& operator=(const OwnDatabase&) = delete;

    static db::ConnectionSettings connection_to(std::string_view name) {
        auto connection = test::connection_settings();
        connection.database = name;
        return connection;
    }
    static Settings own_settings() {
        Settings own = test::settings();
        own.database.name += "_parts";
        return own;
    }

    std::string problem() { return service::inspect_schema(context).problem; }
    std::string health_problem() {
        const auto checks = service::check_health(context);
        const auto schema = std::find_if(checks.begin(), checks.end(),
                                         [](const auto& check) { return check.name == "schema"; });
        return schema == checks.end() ? "not checked" : schema->problem;
    }
    void has_problem(const std::string& beginning, const std::string& advice = kRestore) {
        const std::string found = problem();
        BOOST_TEST(found.starts_with("the schema lacks " + beginning + ": " + advice), found);
        BOOST_TEST(found.ends_with(settings.files.sql + "/schema.sql defines"), found);
        BOOST_TEST(health_problem() == found);
    }

    Settings settings = own_settings();
    db::Database without{connection_to("")};
    db::Database database{connection_to(settings.database.name)};
    service::Context context{database, settings, KeyRing(settings.security.key)};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(schema_parts, OwnDatabase)

BOOST_AUTO_TEST_CASE(a_new_schema_has_exactly_the_parts_of_its_file) {
    BOOST_TEST(problem() == "");
    BOOST_TEST(health_problem() == "");
    const auto made = store::parts_made_by(service::schema_file(settings).statements);
    const auto installed =
        database.autocommit([](db::Tx& tx) { return store::installed_parts(tx); });
    BOOST_TEST(made.contains("table members"));
    BOOST_TEST(made.contains("column members.search_name"));
    BOOST_TEST(made.contains("index members.PRIMARY"));
    // The server adds an index to a foreign key that has none.
    for (const std::string& name : installed) {
        BOOST_TEST((made.contains(name) || name.starts_with("index ")), name);
    }
}

BOOST_AUTO_TEST_CASE(a_missing_column_index_or_table_is_named) {
    database.run("ALTER TABLE schema_version DROP COLUMN applied_at");
    has_problem("column schema_version.applied_at");
    database.run("ALTER TABLE users DROP INDEX email");
    has_problem("column schema_version.applied_at, index users.email");
    database.run("DROP TABLE organization_days");
    has_problem("column schema_version.applied_at, index users.email, table organization_days",
                kGrant);
}

BOOST_AUTO_TEST_CASE(three_missing_parts_are_named_and_the_others_counted) {
    database.run(
        "ALTER TABLE organization_days DROP FOREIGN KEY organization_days_organization, "
        "DROP INDEX day, DROP COLUMN amount");
    database.run("ALTER TABLE users DROP COLUMN created_at, DROP INDEX email");
    database.run("DROP TABLE organization_deletions");
    has_problem(
        "column organization_days.amount, column users.created_at, "
        "index organization_days.day and 2 more",
        kGrant);
}

BOOST_AUTO_TEST_CASE(a_schema_of_another_version_is_not_compared) {
    database.run("DROP TABLE organization_days");
    database.run("UPDATE schema_version SET version = version + 1");
    const auto newer = service::inspect_schema(context);
    BOOST_TEST((newer.fit == rules::SchemaFit::NewerUsable));
    BOOST_TEST(newer.problem == "");
}

BOOST_AUTO_TEST_SUITE_END()
