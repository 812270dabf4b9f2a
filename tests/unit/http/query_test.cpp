// http/query.hpp: a query is decoded once and read by name; every mistake is a fault.
#include "http/query.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using muster::Faults;
using muster::field_code_text;
using muster::http::percent_decoded;
using muster::http::Query;

namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const Faults& faults) {
    Texts texts;
    for (const auto& fault : faults.list()) {
        texts.push_back(fault.path + " " + std::string(field_code_text(fault.code)));
    }
    return texts;
}

// Reads limit, state and raw, as a list endpoint does.
struct Read {
    explicit Read(std::string_view text) {
        Query query(text, list);
        limit = query.integer("limit", 50, 1, 100);
        state = query.text("state", 8);
        raw = query.flag("raw");
        query.finish();
    }
    Texts faults() const { return texts_of(list); }

    Faults list;
    int limit = 0;
    std::optional<std::string> state;
    bool raw = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(query)

BOOST_AUTO_TEST_CASE(an_empty_query_gives_the_defaults) {
    for (const std::string_view text : {"", "&", "&&"}) {
        const Read read(text);
        BOOST_TEST(read.limit == 50);
        BOOST_TEST(!read.state.has_value());
        BOOST_TEST(!read.raw);
        BOOST_TEST(read.faults() == Texts());
    }
}

BOOST_AUTO_TEST_CASE(parameters_are_read_by_name_in_any_order) {
    const Read read("raw=true&limit=100&state=%76alid");
    BOOST_TEST(read.limit == 100);
    BOOST_TEST(read.state == "valid");
    BOOST_TEST(read.raw);
    BOOST_TEST(read.faults() == Texts());
    BOOST_TEST(Read("%73tate=a%20b+c").state == "a b c");
    BOOST_TEST(Read("state=a=b").state == "a=b");
    BOOST_TEST(Read("state=").state == "");
    BOOST_TEST(Read("state").state == "");
    BOOST_TEST(!Read("raw=false").raw);
    BOOST_TEST(Read("limit=1").limit == 1);
}

BOOST_AUTO_TEST_CASE(faults_are_reported_by_name) {
    const std::vector<std::pair<std::string, Texts>> table = {
        {"limit=0", {"limit out_of_range"}},
        {"limit=101", {"limit out_of_range"}},
        {"limit=-1", {"limit out_of_range"}},
        {"limit=99999999999", {"limit out_of_range"}},
        {"limit=18446744073709551617", {"limit out_of_range"}},
        {"limit=-18446744073709551617", {"limit out_of_range"}},
        {"limit=", {"limit wrong_type"}},
        {"limit=ten", {"limit wrong_type"}},
        {"limit=1.5", {"limit wrong_type"}},
        {"limit=1.0", {"limit wrong_type"}},
        {"limit=-", {"limit wrong_type"}},
        {"limit=5x", {"limit wrong_type"}},
        {"limit=+5", {"limit wrong_type"}},
        {"limit=%205", {"limit wrong_type"}},
        {"raw=yes", {"raw invalid_choice"}},
        {"raw", {"raw invalid_choice"}},
        {"raw=TRUE", {"raw invalid_choice"}},
        {"state=ninechars", {"state too_long"}},
        {"offset=1", {"offset unknown_field"}},
        {"State=x", {"State unknown_field"}},
        {"limit=1&limit=1", {"limit duplicate"}},
        {"limit=1&%6cimit=2", {"limit duplicate"}},
        {"state=%zz", {"state invalid_value"}},
        {"state=%4", {"state invalid_value"}},
        {"state=%", {"state invalid_value"}},
        {"state=%00", {"state invalid_value"}},
        {"state=%ff", {"state invalid_value"}},
        {"st%zzate=1", {"query invalid_value"}},
        {"%ff=1", {"query invalid_value"}},
        {std::string(81, 'n') + "=1", {"query invalid_value"}},
        {"=1", {" unknown_field"}},
        {"limit=0&raw=maybe&x=1", {"limit out_of_range", "raw invalid_choice", "x unknown_field"}},
    };
    for (const auto& [text, faults] : table) BOOST_TEST(Read(text).faults() == faults, text);
}

BOOST_AUTO_TEST_CASE(a_fault_of_a_number_has_the_allowed_range) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"limit=ten", "is not an integer in decimal digits; use 1 to 100"},
        {"limit=", "is not an integer in decimal digits; use 1 to 100"},
        {"limit=101", "is out of range; use 1 to 100"},
        {"limit=18446744073709551617", "is out of range; use 1 to 100"},
    };
    for (const auto& [text, message] : table) {
        const Read read(text);
        BOOST_TEST_REQUIRE(read.list.list().size() == 1U, text);
        const auto& fault = read.list.list().front();
        BOOST_TEST(fault.message == message, text);
        BOOST_TEST((fault.limits.minimum == 1 && fault.limits.maximum == 100), text);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_number_reads_as_the_default) {
    for (const std::string_view text :
         {"limit=0", "limit=x", "limit=%zz", "limit=18446744073709551617"}) {
        BOOST_TEST(Read(text).limit == 50, text);
    }
}

BOOST_AUTO_TEST_CASE(a_length_is_counted_in_characters) {
    std::string eight;
    for (int i = 0; i < 8; ++i) eight += "%c3%ab";
    BOOST_TEST(Read("state=" + eight).faults() == Texts());
    BOOST_TEST(Read("state=" + eight + "x").faults() == Texts{"state too_long"});
}

BOOST_AUTO_TEST_CASE(escapes_are_decoded_once) {
    BOOST_TEST(percent_decoded("a%2Fb%2fc") == "a/b/c");
    BOOST_TEST(percent_decoded("%2541") == "%41");
    BOOST_TEST(percent_decoded("a+b%2B") == "a b+");
    BOOST_TEST(percent_decoded("") == "");
    BOOST_TEST(percent_decoded("%c3%ab") == "\u00eb");
    for (const std::string_view text :
         {"%", "%1", "%g1", "%1g", "a%", "%00", "%ff", "%c3", "%c0%af", "% 1"}) {
        BOOST_TEST(!percent_decoded(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
