// rules/operations/schema_fit.hpp: a program works with its own schema, and with a newer one that
// names it; with no other.
#include "rules/operations/schema_fit.hpp"

#include "print.hpp"

#include <set>

using muster::rules::fit_of;
using muster::rules::schema_fit_name;
using muster::rules::SchemaFit;
using muster::rules::SchemaRecord;

namespace {

std::string_view fit(int program, std::optional<SchemaRecord> schema) {
    return schema_fit_name(fit_of(program, schema));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schema_fit)

BOOST_AUTO_TEST_CASE(a_schema_that_is_not_there_or_was_not_finished_is_none) {
    BOOST_TEST(fit(6, std::nullopt) == "none");
    BOOST_TEST(fit(6, SchemaRecord{}) == "none");
}

BOOST_AUTO_TEST_CASE(a_program_and_the_schema_that_it_was_written_for_fit) {
    BOOST_TEST(fit(6, SchemaRecord{6, 6}) == "current");
    BOOST_TEST(fit(9, SchemaRecord{9, 6}) == "current");
    BOOST_TEST(fit(5, SchemaRecord{5, std::nullopt}) == "current");
}

BOOST_AUTO_TEST_CASE(an_older_schema_is_to_be_upgraded_whatever_it_says) {
    BOOST_TEST(fit(6, SchemaRecord{5, std::nullopt}) == "older");
    BOOST_TEST(fit(6, SchemaRecord{1, std::nullopt}) == "older");
    BOOST_TEST(fit(7, SchemaRecord{6, 6}) == "older");
    BOOST_TEST(fit(7, SchemaRecord{6, 7}) == "older");  // its upgrade has begun
}

BOOST_AUTO_TEST_CASE(a_newer_schema_says_which_programs_may_work_with_it) {
    BOOST_TEST(fit(6, SchemaRecord{7, 6}) == "newer");
    BOOST_TEST(fit(7, SchemaRecord{9, 6}) == "newer");
    BOOST_TEST(fit(6, SchemaRecord{7, 7}) == "too_new");
    BOOST_TEST(fit(7, SchemaRecord{9, 8}) == "too_new");
    BOOST_TEST(fit(6, SchemaRecord{7, std::nullopt}) == "too_new");
}

BOOST_AUTO_TEST_CASE(an_upgrade_that_has_begun_may_want_newer_programs_before_it_is_done) {
    BOOST_TEST(fit(6, SchemaRecord{6, 7}) == "too_new");
}

BOOST_AUTO_TEST_CASE(each_has_a_name_of_its_own) {
    std::set<std::string_view> names;
    for (const SchemaFit each : {SchemaFit::None, SchemaFit::Older, SchemaFit::Current,
                                 SchemaFit::NewerUsable, SchemaFit::NewerUnusable}) {
        names.insert(schema_fit_name(each));
    }
    BOOST_TEST(names.size() == 5);
    BOOST_TEST(!names.contains(""));
}

BOOST_AUTO_TEST_SUITE_END()
