// rules/operations/schema_fit.hpp: a program works with its own schema and with a newer one that
// allows it.
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

BOOST_AUTO_TEST_CASE(an_absent_or_unfinished_schema_is_none) {
    BOOST_TEST(fit(6, std::nullopt) == "none");
    BOOST_TEST(fit(6, SchemaRecord{}) == "none");
}

BOOST_AUTO_TEST_CASE(a_program_fits_its_own_schema) {
    BOOST_TEST(fit(6, SchemaRecord{6, 6}) == "current");
    BOOST_TEST(fit(9, SchemaRecord{9, 6}) == "current");
    BOOST_TEST(fit(5, SchemaRecord{5, std::nullopt}) == "current");
}

BOOST_AUTO_TEST_CASE(an_older_schema_requires_an_upgrade) {
    BOOST_TEST(fit(6, SchemaRecord{5, std::nullopt}) == "older");
    BOOST_TEST(fit(6, SchemaRecord{1, std::nullopt}) == "older");
    BOOST_TEST(fit(7, SchemaRecord{6, 6}) == "older");
    BOOST_TEST(fit(7, SchemaRecord{6, 7}) == "older");  // its upgrade has begun
}

BOOST_AUTO_TEST_CASE(a_newer_schema_names_the_oldest_compatible_program) {
    BOOST_TEST(fit(6, SchemaRecord{7, 6}) == "newer");
    BOOST_TEST(fit(7, SchemaRecord{9, 6}) == "newer");
    BOOST_TEST(fit(6, SchemaRecord{7, 7}) == "too_new");
    BOOST_TEST(fit(7, SchemaRecord{9, 8}) == "too_new");
    BOOST_TEST(fit(6, SchemaRecord{7, std::nullopt}) == "too_new");
}

BOOST_AUTO_TEST_CASE(an_unfinished_upgrade_may_already_require_newer_programs) {
    BOOST_TEST(fit(6, SchemaRecord{6, 7}) == "too_new");
}

BOOST_AUTO_TEST_CASE(each_result_has_its_own_name) {
    std::set<std::string_view> names;
    for (const SchemaFit each : {SchemaFit::None, SchemaFit::Older, SchemaFit::Current,
                                 SchemaFit::NewerUsable, SchemaFit::NewerUnusable}) {
        names.insert(schema_fit_name(each));
    }
    BOOST_TEST(names.size() == 5);
    BOOST_TEST(!names.contains(""));
}

BOOST_AUTO_TEST_SUITE_END()
