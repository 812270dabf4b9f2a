// rules/member_jobs/filter.hpp: a filter is stored as JSON and read back.
#include "rules/member_jobs/filter.hpp"

#include "print.hpp"

#include <stdexcept>

using namespace muster;
using rules::MemberJobFilter;

BOOST_AUTO_TEST_SUITE(member_job_filter)

BOOST_AUTO_TEST_CASE(a_stored_filter_is_read_back_unchanged) {
    const MemberJobFilter filter{rules::MemberStatus::Locked,
                                 "DE",
                                 "\u00c4n\"n%",
                                 Timestamp(1'700'000'000'123),
                                 ImportId::create(),
                                 {{"a.b", "\"\u00e9\\\\\""},
                                  {"big", "100000000000000000000000001"},
                                  {"points", "12345.12345678901"},
                                  {"vip", "true"}}};
    BOOST_TEST((rules::parse_filter(rules::filter_json(filter)) == filter));
    BOOST_TEST(rules::filter_json({.country = "DE"}) == R"({"country":"DE"})");
}

BOOST_AUTO_TEST_CASE(a_text_that_is_no_filter_is_rejected) {
    for (const char* text : {"", "[]", "{", R"({"status":"away"})", R"({"updated_since":"soon"})",
                             R"({"imported_by":"1"})"}) {
        BOOST_CHECK_THROW((void)rules::parse_filter(text), std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(no_condition_is_dropped_or_guessed) {
    for (const char* text :
         {"{}", R"({"attributes":{}})", R"({"country":"DE","q":null})", R"({"country":5})",
          R"({"country":["DE"]})", R"({"country":"DE","city":"Bonn"})",
          R"({"country":"DE","country":"FR"})", R"({"country":"DE","attributes":[]})",
          R"({"country":"DE","attributes":"M"})", R"({"country":"DE","attributes":null})",
          R"({"attributes":{"size":["M"]}})", R"({"attributes":{"size":null}})",
          R"({"attributes":{"size":{"a":1}}})", R"({"country":"DE"} )"}) {
        BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK_THROW((void)rules::parse_filter(text), std::invalid_argument);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
