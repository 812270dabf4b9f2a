// service/operations/triggers.hpp: lost triggers of the audit log are found with the privileges of
// the programs' user, and an administrator creates them again.
#include "service/operations/triggers.hpp"

#include "db/fixture.hpp"
#include "service/operations/health.hpp"
#include "service/operations/schema.hpp"
#include "store/operations/schema.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <unistd.h>

#include <algorithm>

using namespace muster;
using test::Client;

namespace {

using Texts = std::vector<std::string>;

const Texts kBoth = {"audit_log_update", "audit_log_delete"};

db::ConnectionSettings connection_to(std::string_view database) {
    auto connection = test::connection_settings();
    connection.database = database;
    return connection;
}

// A database of its own, with the programs' user as `db init` makes it.
struct ProtectedDatabase {
    ProtectedDatabase() {
        without.run(store::create_database_statement(settings.database.name));
        service::make_schema(database, settings);
        root.emplace(connection_to(settings.database.name));
        root->run("CREATE USER " + account);
        root->run("GRANT SELECT, INSERT, UPDATE, DELETE ON `" + settings.database.name + "`.* TO " +
                  account);
        auto connection = connection_to(settings.database.name);
        connection.user = settings.database.user;
        programs_database.emplace(connection);
        programs.emplace(
            service::Context{*programs_database, settings, KeyRing(settings.security.key)});
        owner.emplace(service::Context{database, settings, KeyRing(settings.security.key)});
    }
    ~ProtectedDatabase() {
        without.run("DROP DATABASE " + settings.database.name);
        without.run("DROP USER " + account);
    }
    ProtectedDatabase(const ProtectedDatabase&) = delete;
    ProtectedDatabase& operator=(const ProtectedDatabase&) = delete;

    static Settings changed_settings() {
        Settings changed = test::settings();
        changed.database.name += "_triggers";
        changed.database.user = "triggers_" + std::to_string(getpid());
        return changed;
    }

    static std::string problem_in(const std::vector<service::HealthCheck>& checks,
                                  std::string_view name) {
        const auto found = std::find_if(checks.begin(), checks.end(),
                                        [&](const auto& check) { return check.name == name; });
        return found == checks.end() ? "not checked" : found->problem;
    }
    std::string health_problem(std::string_view name) {
        return problem_in(service::check_health(*programs), name);
    }
    std::string problem() { return service::check_audit_protection(*programs).problem; }
    void has_fault(std::string_view text) {
        const std::string found = problem();
        BOOST_TEST(found.find(text) != std::string::npos, found);
        BOOST_TEST(found.find("`musterctl db init --root-socket ") != std::string::npos, found);
    }
    // As `db init --root-socket` does.
    Texts restore() { return service::restore_triggers(database, settings); }
    std::int64_t triggers() {
        return root->number(
            "SELECT COUNT(*) FROM information_schema.triggers "
            "WHERE trigger_schema = DATABASE()");
    }
    std::int64_t entries() { return root->number("SELECT COUNT(*) FROM audit_log"); }

    Settings settings = changed_settings();
    std::string account = settings.database.user + "@localhost";
    db::Database without{connection_to("")};
    db::Database database{connection_to(settings.database.name)};
    std::optional<Client> root;
    std::optional<db::Database> programs_database;
    std::optional<service::Context> programs;
    std::optional<service::Context> owner;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(triggers, ProtectedDatabase)

BOOST_AUTO_TEST_CASE(a_new_schema_protects_the_audit_log_and_a_probe_leaves_nothing) {
    const auto found = service::check_audit_protection(*programs);
    BOOST_TEST(found.problem == "");
    BOOST_TEST(found.finding == "database.user cannot change the audit log");
    BOOST_TEST(entries() == 0);
    BOOST_TEST(restore() == Texts());
}

BOOST_AUTO_TEST_CASE(a_missing_trigger_is_named_and_created_again) {
    for (const std::string& name : kBoth) {
        root->run("DROP TRIGGER " + name);
        has_fault("the trigger " + name + " is missing");
        BOOST_TEST(entries() == 0);
        BOOST_TEST(restore() == Texts{name});
        BOOST_TEST(problem() == "");
    }
    for (const std::string& name : kBoth) root->run("DROP TRIGGER " + name);
    has_fault(
        "audit_log_update is missing or was replaced; the trigger audit_log_delete is missing");
    BOOST_TEST(restore() == kBoth);
    BOOST_TEST(restore() == Texts());
    BOOST_TEST(problem() == "");
}

BOOST_AUTO_TEST_CASE(a_trigger_that_refuses_nothing_is_replaced) {
    root->run("DROP TRIGGER audit_log_delete");
    root->run("CREATE TRIGGER audit_log_delete BEFORE DELETE ON audit_log FOR EACH ROW SET @x = 1");
    has_fault("the trigger audit_log_delete is missing or was replaced");
    BOOST_TEST(restore() == Texts{"audit_log_delete"});
    BOOST_TEST(problem() == "");
}

BOOST_AUTO_TEST_CASE(a_repair_that_fails_keeps_the_trigger_that_was_there) {
    const test::Scratch folder;
    std::string schema = test::source_text("sql/schema.sql");
    const std::string action = "SET MESSAGE_TEXT = 'an entry of the audit log cannot be changed'";
    BOOST_REQUIRE(schema.find(action) != std::string::npos);
    schema.replace(schema.find(action), action.size(), "SET NO_SUCH_ITEM = 'x'");
    folder.write("schema.sql", schema);
    Settings faulty = settings;
    faulty.files.sql = folder.file("");
    BOOST_CHECK_THROW(service::restore_triggers(database, faulty), db::DbError);
    BOOST_TEST(problem() == "");
}

BOOST_AUTO_TEST_CASE(a_stand_in_that_an_interrupted_repair_left_protects_and_is_dropped) {
    root->run("DROP TRIGGER audit_log_update");
    root->run(
        "CREATE TRIGGER audit_log_update_stand_in BEFORE UPDATE ON audit_log FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'");
    has_fault("the trigger audit_log_update_stand_in remains of an interrupted repair");
    BOOST_TEST(problem().find("is missing") == std::string::npos);
    BOOST_TEST(restore() == Texts{"audit_log_update"});
    BOOST_TEST(triggers() == 2);
    BOOST_TEST(restore() == Texts());
    BOOST_TEST(problem() == "");
}

// As after a repair whose last statement failed.
BOOST_AUTO_TEST_CASE(a_stand_in_next_to_its_trigger_is_named_and_dropped) {
    const std::string stand_in =
        "CREATE TRIGGER audit_log_delete_stand_in BEFORE DELETE ON audit_log FOR EACH ROW "
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'";
    root->run(stand_in);
    has_fault("the trigger audit_log_delete_stand_in remains of an interrupted repair");
    BOOST_TEST(restore() == Texts());
    BOOST_TEST(triggers() == 2);
    BOOST_TEST(problem() == "");

    root->run(stand_in);
    BOOST_TEST(service::restore_triggers(*owner) == Texts());
    BOOST_TEST(triggers() == 2);
    BOOST_TEST(problem() == "");
}

// As after a restore on a server where the administrator has another name.
BOOST_AUTO_TEST_CASE(a_trigger_of_an_account_that_does_not_exist_is_replaced) {
    root->run("DROP TRIGGER audit_log_update");
    root->run(
        "CREATE DEFINER = 'gone'@'localhost' TRIGGER audit_log_update BEFORE UPDATE ON audit_log "
        "FOR EACH ROW SET @x = 1");
    has_fault("the trigger audit_log_update does not work (");
    BOOST_TEST(restore() == Texts{"audit_log_update"});
    BOOST_TEST(problem() == "");
}

// As after `db init --root-socket` in a database whose schema database.user has made.
BOOST_AUTO_TEST_CASE(triggers_of_the_programs_user_are_replaced_when_it_loses_its_privileges) {
    for (const std::string& name : kBoth) {
        const std::string event = name == "audit_log_update" ? "UPDATE" : "DELETE";
        root->run("DROP TRIGGER " + name);
        root->run("CREATE DEFINER = " + account + " TRIGGER " + name + " BEFORE " + event +
                  " ON audit_log FOR EACH ROW SET @x = 1");
    }
    has_fault("the trigger audit_log_delete does not work (");
    BOOST_TEST(restore() == kBoth);
    BOOST_TEST(problem() == "");
}

BOOST_AUTO_TEST_CASE(the_owner_of_the_schema_is_exempt_and_restores_its_triggers) {
    const auto found = service::check_audit_protection(*owner);
    BOOST_TEST(found.problem == "");
    BOOST_TEST(found.finding.find("owns the schema") != std::string::npos, found.finding);
    BOOST_TEST(service::restore_triggers(*owner) == Texts());
    root->run("DROP TRIGGER audit_log_update");
    const std::string problem = service::check_audit_protection(*owner).problem;
    BOOST_TEST(problem.find("audit_log_update is missing") != std::string::npos, problem);
    BOOST_TEST(problem.find("run `musterctl db init`,") != std::string::npos, problem);
    BOOST_TEST(service::restore_triggers(*programs) == Texts());  // it lacks the privileges
    BOOST_TEST(service::restore_triggers(*owner) == Texts{"audit_log_update"});
    BOOST_TEST(service::check_audit_protection(*owner).problem == "");
}

BOOST_AUTO_TEST_CASE(triggers_are_not_created_in_a_schema_of_another_version) {
    root->run("DROP TRIGGER audit_log_update");
    for (const char* version : {"version - 1", "version + 2"}) {
        root->run(std::string("UPDATE schema_version SET version = ") + version);
        BOOST_TEST(restore() == Texts());
    }
}

BOOST_AUTO_TEST_CASE(health_reports_a_missing_trigger) {
    root->run("DROP TRIGGER audit_log_delete");
    const std::string found = health_problem("audit");
    BOOST_TEST(found.find("audit_log_delete") != std::string::npos, found);
}

BOOST_AUTO_TEST_CASE(health_makes_all_checks_on_a_read_only_server) {
    root->run("SET GLOBAL read_only = ON");
    const auto checks = service::check_health(*programs);
    root->run("SET GLOBAL read_only = OFF");
    const std::string settings_problem = problem_in(checks, "settings");
    BOOST_TEST(settings_problem.find("read_only is ON") != std::string::npos, settings_problem);
    BOOST_TEST(problem_in(checks, "audit")
                   .starts_with("no entry can be written: the database server is read-only ("));
    for (const char* name : {"schema", "key", "imports", "mail", "webhooks", "connections"}) {
        BOOST_TEST(problem_in(checks, name) == "", name);
    }
}

BOOST_AUTO_TEST_CASE(health_names_a_privilege_that_the_programs_lack) {
    root->run("REVOKE INSERT ON `" + settings.database.name + "`.* FROM " + account);
    const std::string found = health_problem("audit");
    BOOST_TEST(found.find("database.user lacks a privilege (") != std::string::npos, found);
    BOOST_TEST(found.find("INSERT command denied") != std::string::npos, found);
}

BOOST_AUTO_TEST_SUITE_END()
