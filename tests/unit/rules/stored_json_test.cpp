// rules/stored_json.hpp: which stored texts a reply may contain unchanged.
#include "rules/stored_json.hpp"

#include "print.hpp"

#include <string>
#include <string_view>

using muster::rules::is_stored_json;
using muster::rules::is_stored_object;
using muster::rules::is_stored_texts;

BOOST_AUTO_TEST_SUITE(stored_json)

BOOST_AUTO_TEST_CASE(texts_are_written_as_an_array) {
    BOOST_TEST(muster::rules::json_of_texts({}) == "[]");
    BOOST_TEST(muster::rules::json_of_texts({"a", "", "b\"c"}) == R"(["a","","b\"c"])");
}

BOOST_AUTO_TEST_CASE(a_value_of_each_kind_is_accepted_as_that_kind) {
    for (const std::string_view text :
         {"null", "true", "1.50", "-7", R"("a")", "[]", "{}", " [ 1 ] ", R"(["a",2])", R"([["a"]])",
          R"({"a":1,"a":2})"}) {
        BOOST_TEST(is_stored_json(text), text);
        BOOST_TEST(is_stored_object(text) == text.starts_with('{'), text);
        BOOST_TEST(is_stored_texts(text) == (text == "[]"), text);
    }
    BOOST_TEST(is_stored_texts(R"(["a","b \"c\" \u00e9",""])"));
    BOOST_TEST(is_stored_object(R"({"a":{"b":[1,2]}})"));
}

BOOST_AUTO_TEST_CASE(text_that_would_break_out_of_its_place_is_rejected) {
    for (const std::string_view text : {"",
                                        " ",
                                        "x",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "[]]",
                                        "{}}",
                                        "[],[]",
                                        R"({},"b":1)",
                                        R"("a","b")",
                                        "1 2",
                                        R"("a)",
                                        R"("a\")",
                                        "{'a':1}",
                                        "[1,]",
                                        "01",
                                        "nul",
                                        "[]//",
                                        "\"\n\"",
                                        "\"\xff\"",
                                        "\"\xed\xa0\x80\"",
                                        R"("\ud800")",
                                        "1e999",
                                        R"({"a" 1})"}) {
        BOOST_TEST(!is_stored_json(text), text);
        BOOST_TEST(!is_stored_object(text), text);
        BOOST_TEST(!is_stored_texts(text), text);
    }
    BOOST_TEST(!is_stored_json(std::string_view("[]\0", 3)));
}

BOOST_AUTO_TEST_CASE(a_check_does_not_depend_on_the_check_before) {
    const std::string large = muster::rules::json_of_texts({std::string(100'000, 'x')});
    BOOST_TEST(is_stored_texts(large));
    BOOST_TEST(!is_stored_texts("["));
    BOOST_TEST(is_stored_texts("[]"));
    BOOST_TEST(!is_stored_texts(large.substr(1)));
    BOOST_TEST(is_stored_texts(large));
}

BOOST_AUTO_TEST_SUITE_END()
