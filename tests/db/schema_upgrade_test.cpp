// service/operations/schema.hpp upgrade_schema: a database of any earlier version gets the schema
// of a new one and keeps its data, wherever an earlier run was interrupted. For concurrent
// transactions see schema_waiting_test.cpp.
#include "db/upgrade_database.hpp"
#include "unit/client/scratch.hpp"

#include "print.hpp"

#include <filesystem>

using muster::db::DbError;
using namespace muster::test;
namespace service = muster::service;
namespace store = muster::store;

namespace {

// The steps of all upgrades from version 1 on, in order.
struct Step {
    int version = 0;
    std::string statement;
};
std::vector<Step> upgrade_steps() {
    std::vector<Step> steps;
    for (int version = 2; version <= kNewest; ++version) {
        for (auto& statement : store::statements_of(source_text(upgrade_file(version)))) {
            steps.push_back({version, std::move(statement)});
        }
    }
    return steps;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_upgrade)

BOOST_AUTO_TEST_CASE(a_database_of_version_1_gets_the_current_schema) {
    OldDatabase target(4);  // more than two transactions of batches
    BOOST_TEST(service::check_readiness(*target.context).problem.find("musterctl db migrate") !=
               std::string::npos);
    const auto applied = service::upgrade_schema(*target.context).upgrades;
    BOOST_TEST_REQUIRE(applied.size() == kNewest - 1);
    std::size_t statements = 0;
    for (std::size_t i = 0; i < applied.size(); ++i) {
        BOOST_TEST(applied[i].version == static_cast<int>(i) + 2);
        BOOST_TEST(applied[i].done_before == 0);
        statements += applied[i].statements;
    }
    BOOST_TEST(statements == upgrade_steps().size());
    check_is_current(target);
    check_data_is_right(target, 10'000);
    BOOST_TEST(service::upgrade_schema(*target.context).upgrades.empty());
}

BOOST_AUTO_TEST_CASE(an_upgrade_interrupted_after_any_statement_is_completed_by_the_next_run) {
    const std::vector<Step> steps = upgrade_steps();
    for (std::size_t done = 1; done <= steps.size(); ++done) {
        BOOST_TEST_CONTEXT("after statement " << done) {
            OldDatabase target;
            const int at = steps[done - 1].version;
            for (int version = 2; version < at; ++version) target.client->run(recorded(version));
            for (std::size_t i = 0; i < done; ++i) target.client->run(steps[i].statement);
            BOOST_TEST(service::upgrade_schema(*target.context).upgrades.size() ==
                       kNewest - at + 1);
            check_is_current(target);
            check_data_is_right(target, 10);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_upgrade_interrupted_between_two_batches_is_completed_by_the_next_run) {
    OldDatabase target(4);
    for (const Step& step : upgrade_steps()) {
        target.client->run(step.statement);
        if (step.statement.starts_with("UPDATE ")) break;
    }
    const std::int64_t left =
        target.client->number("SELECT COUNT(*) FROM members WHERE email = ''");
    BOOST_TEST(left > 0);
    BOOST_TEST(left < 20'000);
    BOOST_TEST(service::upgrade_schema(*target.context).upgrades.at(0).done_before > 0);
    check_is_current(target);
    check_data_is_right(target, 10'000);
}

BOOST_AUTO_TEST_CASE(any_other_failure_is_reported_with_its_statement_and_not_skipped) {
    OldDatabase target;
    muster::test::Scratch scratch;
    target.settings.files.sql = scratch.file("");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context), std::runtime_error,
                          [](const auto& error) { return says(error, "upgrades/2.sql"); });
    std::filesystem::create_directory(scratch.file("upgrades"));
    for (int version = 3; version <= kNewest; ++version) {
        // This version adds the column that records the oldest programs.
        const bool is_real = version == store::kFirstVersionWithPrograms;
        scratch.write("upgrades/" + std::to_string(version) + ".sql",
                      is_real
                          ? source_text(upgrade_file(version))
                          : "-- oldest program: 1\nALTER TABLE members ADD COLUMN c INT NULL;\n");
    }
    const std::string first = "ALTER TABLE members ADD COLUMN a INT NULL;\n";
    scratch.write("upgrades/2.sql", first + "ALTER TABLE nowhere ADD COLUMN a INT NULL;\n");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context), DbError,
                          [](const DbError& error) {
                              return error.number() == 1146 &&
                                     says(error, "upgrade to version 2, statement 2 of 2: ");
                          });
    BOOST_TEST(target.client->column("SELECT version FROM schema_version") == Lines({"1"}));
    scratch.write("upgrades/2.sql", first + "ALTER TABLE members ADD COLUMN b INT NULL;\n");
    BOOST_TEST(service::upgrade_schema(*target.context).upgrades.at(0).done_before == 1);
}

BOOST_AUTO_TEST_CASE(an_absent_schema_is_not_upgraded) {
    UpgradeDatabase target("_none");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context), std::runtime_error,
                          [](const auto& error) { return says(error, "musterctl db init"); });
}

BOOST_FIXTURE_TEST_CASE(a_newer_schema_is_not_changed_and_is_rejected_if_incompatible,
                        NewDatabase) {
    const int newer = kNewest + 1;
    client->execute("INSERT INTO schema_version VALUES (?, 1, ?)", newer, kNewest);
    const auto usable = service::upgrade_schema(*context);
    BOOST_TEST(usable.upgrades.empty());
    BOOST_TEST(usable.version == newer);
    client->execute("UPDATE schema_version SET oldest_program = ? WHERE version = ?", newer, newer);
    BOOST_CHECK_EXCEPTION(
        service::upgrade_schema(*context), std::runtime_error, [](const auto& error) {
            return says(error, "newer") && says(error, "install the newer packages");
        });
}

// ------------------------------------------------------------------- which programs are compatible

namespace {

// Upgrades written by a test: `last` replaces the newest upgrade of this program.
struct OwnUpgrades : OldDatabase {
    explicit OwnUpgrades(const std::string& last) {
        std::filesystem::create_directory(scratch.file("upgrades"));
        for (int version = 2; version < kNewest; ++version) {
            scratch.write("upgrades/" + std::to_string(version) + ".sql",
                          source_text(upgrade_file(version)));
        }
        write(last);
    }
    void write(const std::string& last) {
        scratch.write("upgrades/" + std::to_string(kNewest) + ".sql", last);
    }

    Scratch scratch;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_upgrade_without_an_oldest_program_is_not_started) {
    OwnUpgrades target("ALTER TABLE members ADD COLUMN a INT NULL;\n");
    target.settings.files.sql = target.scratch.file("");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context), std::runtime_error,
                          [](const auto& error) { return says(error, "oldest program"); });
    target.write("-- oldest program: six\nALTER TABLE members ADD COLUMN a INT NULL;\n");
    BOOST_CHECK_EXCEPTION(service::upgrade_schema(*target.context), std::runtime_error,
                          [](const auto& error) { return says(error, "oldest program: six"); });
    BOOST_TEST(target.client->column("SELECT version FROM schema_version") == Lines({"1"}));
}

// The upgrade of a later program, seen from this one.
struct NextUpgrade : NewDatabase {
    static constexpr int kNext = kNewest + 1;

    std::string_view seen() {
        return muster::rules::schema_fit_name(service::schema_status(*context).fit);
    }
    // `oldest`: the oldest program that it works with.
    void apply(int oldest, const std::string& statement) {
        database->autocommit([&](muster::db::Tx& tx) {
            return service::apply_upgrade(tx, {{statement}, {kNext, oldest}}, {});
        });
    }
    inline static const std::string kAdds = "ALTER TABLE admins ADD COLUMN a INT NULL";
    inline static const std::string kFails = "ALTER TABLE nowhere ADD COLUMN a INT NULL";
};

BOOST_FIXTURE_TEST_CASE(an_upgrade_that_only_adds_keeps_this_program_working, NextUpgrade) {
    BOOST_CHECK_THROW(apply(kNewest, kFails), DbError);
    BOOST_TEST(seen() == "current");
    apply(kNewest, kAdds);
    BOOST_TEST(seen() == "newer");
    BOOST_TEST(service::check_readiness(*context).state == service::Readiness::Ready);
}

BOOST_FIXTURE_TEST_CASE(a_breaking_upgrade_makes_this_program_refuse_to_work_from_its_start_on,
                        NextUpgrade) {
    BOOST_CHECK_THROW(apply(kNext, kFails), DbError);
    BOOST_TEST(seen() == "too_new");
    BOOST_TEST(client->column("SELECT version FROM schema_version") ==
               Lines({std::to_string(kNewest)}));
    const auto report = service::check_readiness(*context);
    BOOST_TEST(report.state == service::Readiness::WrongSchema);
    BOOST_TEST(report.problem.find("install the newer packages") != std::string::npos,
               report.problem);
    apply(kNext, kAdds);
    BOOST_TEST(seen() == "too_new");
    BOOST_TEST(client->number("SELECT oldest_program FROM schema_version WHERE version = ?",
                              kNext) == kNext);
}

BOOST_FIXTURE_TEST_CASE(a_later_file_with_an_older_program_does_not_lift_the_requirement,
                        NextUpgrade) {
    BOOST_CHECK_THROW(apply(kNext, kFails), DbError);
    BOOST_CHECK_THROW(apply(kNewest, kFails), DbError);
    BOOST_TEST(seen() == "too_new");
}

BOOST_AUTO_TEST_SUITE_END()
