// The files of sql/upgrades/ from version 6 on follow the rules of 2.sql, "How to write one", as
// far as a text check can show: programs work on a table while it is changed, and the schema names
// the compatible programs.
#include "db/upgrade_database.hpp"

#include "print.hpp"

using namespace muster::test;
namespace store = muster::store;

namespace {

bool has(std::string_view text, std::string_view words) {
    return text.find(words) != std::string_view::npos;
}

// The fault of one statement; "" = no fault.
std::string fault_of(const std::string& statement) {
    if (statement.starts_with("CREATE TABLE ")) return "";
    // Locks the table for a moment only, as INSTANT does.
    if (statement.starts_with("CREATE TRIGGER IF NOT EXISTS ")) return "";
    if (statement.starts_with("UPDATE ")) {
        return has(statement, "LIMIT ") ? "" : "an UPDATE requires a LIMIT";
    }
    if (!statement.starts_with("ALTER TABLE "))
        return "neither CREATE TABLE, CREATE TRIGGER, ALTER TABLE nor UPDATE";
    const bool is_instant = has(statement, "ALGORITHM = INSTANT");
    const bool is_online = has(statement, "ALGORITHM = INPLACE") && has(statement, "LOCK = NONE");
    if (is_instant && has(statement, "LOCK = ")) return "MySQL takes no LOCK with INSTANT";
    if (!is_instant && !is_online) return "not ALGORITHM = INSTANT, nor INPLACE with LOCK = NONE";
    return has(statement, "ADD FOREIGN KEY") || has(statement, "ADD CONSTRAINT")
               ? "neither engine adds a foreign key online"
               : "";
}

Lines faults_of(const std::string& file) {
    Lines faults;
    for (const std::string& statement : store::statements_of(file)) {
        const std::string fault = fault_of(statement);
        if (!fault.empty()) faults.push_back(fault + ": " + statement);
    }
    return faults;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(upgrade_rules)

BOOST_AUTO_TEST_CASE(each_upgrade_names_an_algorithm_that_copies_no_table_under_a_lock) {
    for (int version = store::kFirstVersionWithPrograms; version <= kNewest; ++version) {
        BOOST_TEST(faults_of(source_text(upgrade_file(version))) == Lines(), version);
    }
}

BOOST_AUTO_TEST_CASE(each_upgrade_names_the_oldest_program_and_the_number_never_decreases) {
    int before = store::kFirstVersionWithPrograms;
    for (int version = store::kFirstVersionWithPrograms; version <= kNewest; ++version) {
        const auto oldest = store::oldest_program_in(source_text(upgrade_file(version)));
        BOOST_TEST_REQUIRE(oldest.has_value(), version);
        BOOST_TEST(*oldest >= before, version);
        BOOST_TEST(*oldest <= version, version);
        before = *oldest;
    }
    BOOST_TEST(store::oldest_program_in(source_text("sql/schema.sql")) == before);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_off_is_rejected) {
    const std::string whole = "CREATE TABLE a (\n    id INT\n);\nCREATE TABLE b (id INT);\n";
    BOOST_TEST(store::statements_of(whole).size() == 2U);
    for (const std::string cut : {"CREATE TABLE a (\n    id INT\n", "CREATE TABLE a (id INT)"}) {
        BOOST_CHECK_THROW((void)store::statements_of(cut), std::runtime_error);
    }
}

BOOST_AUTO_TEST_CASE(blocking_statements_are_found) {
    const auto is_fault = [](const std::string& statement) {
        return faults_of(statement + ";\n").size() == 1;
    };
    BOOST_TEST(is_fault("ALTER TABLE members ADD COLUMN a INT NULL"));
    BOOST_TEST(is_fault("ALTER TABLE members ADD COLUMN a INT NULL, ALGORITHM = COPY"));
    BOOST_TEST(is_fault("ALTER TABLE members ADD KEY a (a), ALGORITHM = INPLACE"));
    BOOST_TEST(is_fault("ALTER TABLE members ADD KEY a (a), ALGORITHM = INPLACE, LOCK = SHARED"));
    BOOST_TEST(is_fault("ALTER TABLE members ADD COLUMN a INT, ALGORITHM = INSTANT, LOCK = NONE"));
    BOOST_TEST(
        is_fault("ALTER TABLE members ADD CONSTRAINT a FOREIGN KEY (a) REFERENCES b (b), "
                 "ALGORITHM = INPLACE, LOCK = NONE"));
    BOOST_TEST(is_fault("UPDATE members SET a = 1"));
    BOOST_TEST(is_fault("DELETE FROM members LIMIT 1"));
    BOOST_TEST(is_fault("CREATE INDEX a ON members (a)"));
    BOOST_TEST(!is_fault("ALTER TABLE members ADD COLUMN a INT NULL, ALGORITHM = INSTANT"));
    BOOST_TEST(!is_fault("ALTER TABLE members ADD KEY a (a), ALGORITHM = INPLACE, LOCK = NONE"));
    BOOST_TEST(!is_fault("UPDATE members SET a = 1 WHERE a = 0 LIMIT 5000"));
    BOOST_TEST(!is_fault("CREATE TABLE IF NOT EXISTS a (b INT)"));
    BOOST_TEST(is_fault("CREATE TRIGGER a BEFORE DELETE ON b FOR EACH ROW SET @a = 1"));
}

BOOST_AUTO_TEST_SUITE_END()
