// base/json_bounds.hpp: what makes a JSON text costly is counted outside its strings.
#include "base/json_bounds.hpp"

#include "print.hpp"

#include <string>

using namespace muster;

BOOST_AUTO_TEST_SUITE(json_bounds)

BOOST_AUTO_TEST_CASE(entries_and_members_are_counted) {
    BOOST_TEST(count_json_parts("").entries == 0U);
    BOOST_TEST(count_json_parts("1").entries == 0U);
    BOOST_TEST(count_json_parts("[1,2,3]").entries == 3U);
    BOOST_TEST(count_json_parts(R"({"a":1,"b":2})").entries == 2U);
    BOOST_TEST(count_json_parts("[[],{}]").entries == 4U);  // an empty one counts as one
    BOOST_TEST(count_json_parts(R"(["[,{\"[,{","\\",1])").entries == 3U);
    BOOST_TEST(count_json_parts("[\"[,{").entries == 1U);  // a string without an end
}

BOOST_AUTO_TEST_CASE(long_numbers_are_counted) {
    BOOST_TEST(count_json_parts("[9999999999999999999,-999999999999999999]").long_numbers == 0U);
    BOOST_TEST(count_json_parts("[10000000000000000000,-1000000000000000000]").long_numbers == 2U);
    BOOST_TEST(count_json_parts(R"(["10000000000000000000"])").long_numbers == 0U);
}

BOOST_AUTO_TEST_CASE(a_text_that_exceeds_a_bound_is_found_without_looking_for_strings) {
    const std::string text(2 * kMostJsonEntries, 'x');
    BOOST_TEST(!may_exceed_json_bounds(text));
    BOOST_TEST(!may_exceed_json_bounds(std::string(kMostJsonEntries - 200, ',') + text));
    BOOST_TEST(may_exceed_json_bounds(std::string(kMostJsonEntries + 1, ',') + text));
    BOOST_TEST(may_exceed_json_bounds(text + std::string(kMostJsonEntries + 1, '[')));
    BOOST_TEST(may_exceed_json_bounds("\"" + std::string(kMostJsonEntries + 200, '{') + "\""));
    std::string numbers;
    for (std::size_t i = 0; i < kMostLongNumbers; ++i) numbers += "12345678901234567890,";
    BOOST_TEST(!may_exceed_json_bounds(numbers));
    BOOST_TEST(may_exceed_json_bounds(numbers + "12345678901234567890"));
}

BOOST_AUTO_TEST_CASE(the_parts_of_pieces_add_up) {
    JsonParts parts = count_json_parts("[");
    parts += count_json_parts("{\"a\":10000000000000000000}");
    parts += count_json_parts(",[]]");
    BOOST_TEST(parts.entries == 4U);
    BOOST_TEST(parts.long_numbers == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
