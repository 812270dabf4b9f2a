// base/json.hpp: writing JSON, and reading Muster's own documents.
#include "base/json.hpp"

#include "print.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using muster::append_json_string;
using muster::json_text;
using muster::JsonWriter;
using muster::parse_json;

namespace {

std::string quoted(std::string_view text) {
    std::string to;
    append_json_string(to, text);
    return to;
}

bool is_json(std::string_view text) {
    Json::Value value;
    return parse_json(text, value);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(strings_are_escaped_as_rfc_8259_requires) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", R"("")"},
        {"plain", R"("plain")"},
        {"a\"b", R"("a\"b")"},
        {"a\\b", R"("a\\b")"},
        {"\"", R"("\"")"},
        {"\\", R"("\\")"},
        {"a/b", R"("a/b")"},
        {"\n\r\t", R"("\n\r\t")"},
        {std::string("\0", 1), R"("\u0000")"},
        {"\x01", R"("\u0001")"},
        {"\x1f", R"("\u001f")"},
        {"\x7f", "\"\x7f\""},
        {"Zo\u00eb", "\"Zo\u00eb\""},
        {"\U0001f600", "\"\U0001f600\""},
        {"\u2028", "\"\u2028\""},
        {"<script>&'", R"("<script>&'")"},
        {"tail\"", R"("tail\"")"},
    };
    for (const auto& [text, expected] : table) BOOST_TEST(quoted(text) == expected);
}

BOOST_AUTO_TEST_CASE(every_escaped_character_is_read_back) {
    std::string every;
    for (int c = 0; c < 0x80; ++c) every += static_cast<char>(c);
    every += "\u0080\u00ff\u07ff\u0800\uffff\U00010000\U0010ffff";
    Json::Value value;
    BOOST_TEST_REQUIRE(parse_json("[" + quoted(every) + "]", value));
    BOOST_TEST(value[0].asString() == every);
}

BOOST_AUTO_TEST_CASE(an_escape_is_found_at_any_place_of_a_long_text) {
    for (int c = 0; c < 0x100; ++c) {
        const std::string byte(1, static_cast<char>(c));
        const std::string escaped = quoted(byte).substr(1, quoted(byte).size() - 2);
        for (std::size_t place = 0; place < 20; ++place) {
            const std::string before(place, '\xff');
            const std::string after(19 - place, 'z');
            BOOST_TEST(quoted(before + byte + after) == "\"" + before + escaped + after + "\"", c);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_string_is_appended_to_existing_text) {
    std::string to = "x";
    append_json_string(to, "y");
    BOOST_TEST(to == "x\"y\"");
}

BOOST_AUTO_TEST_CASE(the_writer_adds_the_commas) {
    std::string text;
    JsonWriter to(text);
    to.begin_object();
    to.key("a");
    to.number(1);
    to.key("b");
    to.begin_array();
    to.string("x");
    to.begin_object();
    to.end_object();
    to.begin_array();
    to.end_array();
    to.null();
    to.end_array();
    to.key("c");
    to.begin_object();
    to.key("d");
    to.boolean(true);
    to.key("e");
    to.boolean(false);
    to.end_object();
    to.key("f");
    to.raw(R"({"g":[1,2]})");
    to.key("h \"i\"");
    to.null();
    to.end_object();
    BOOST_TEST(text == R"({"a":1,"b":["x",{},[],null],"c":{"d":true,"e":false},)"
                       R"("f":{"g":[1,2]},"h \"i\"":null})");
}

BOOST_AUTO_TEST_CASE(the_writer_accepts_values_without_a_container) {
    std::string text;
    JsonWriter(text).string("x");
    BOOST_TEST(text == "\"x\"");
    text.clear();
    JsonWriter(text).begin_array();
    BOOST_TEST(text == "[");
}

BOOST_AUTO_TEST_CASE(the_writer_writes_every_integer) {
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1763632800123},
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
        std::string text;
        JsonWriter(text).number(value);
        BOOST_TEST(text == std::to_string(value));
    }
}

BOOST_AUTO_TEST_CASE(a_value_is_printed_in_compact_utf8) {
    Json::Value value;
    value["b"] = "Zo\u00eb \U0001f600";
    value["a"].append(1);
    value["a"].append(Json::nullValue);
    value["a"].append(true);
    value["c"] = 0.1;
    value["d"] = Json::objectValue;
    value["e"] = Json::arrayValue;
    BOOST_TEST(json_text(value) ==
               "{\"a\":[1,null,true],\"b\":\"Zo\u00eb \U0001f600\",\"c\":0.1,\"d\":{},\"e\":[]}");
    BOOST_TEST(json_text(Json::nullValue) == "null");
    BOOST_TEST(json_text("x") == "\"x\"");
}

BOOST_AUTO_TEST_CASE(pretty_text_is_the_same_document) {
    Json::Value value;
    value["a"]["b"].append(1);
    value["c"] = std::string(120, 'x');
    const std::string text = muster::json_text_pretty(value);
    BOOST_TEST(text.starts_with("{\n  \"a\": {\"b\": [1]},\n  \"c\": \""));
    BOOST_TEST(text.find('\n') != std::string::npos);
    BOOST_TEST(text.back() == '\n');
    Json::Value back;
    BOOST_TEST_REQUIRE(parse_json(text, back));
    BOOST_TEST(back == value);
}

BOOST_AUTO_TEST_CASE(objects_and_arrays_are_read) {
    Json::Value value;
    BOOST_TEST_REQUIRE(parse_json(R"( {"a": [1, -2.5, "x", null, true], "b": {}} )", value));
    BOOST_TEST(value["a"][0].asInt() == 1);
    BOOST_TEST(value["a"][1].asDouble() == -2.5);
    BOOST_TEST(value["a"][2].asString() == "x");
    BOOST_TEST(value["a"][3].isNull());
    BOOST_TEST(value["a"][4].asBool());
    BOOST_TEST(value["b"].isObject());
    BOOST_TEST(is_json("[]"));
    BOOST_TEST(is_json("{}"));
}

BOOST_AUTO_TEST_CASE(an_array_of_similar_elements_takes_its_memory_once) {
    constexpr std::size_t kCount = 100;
    const std::string element = quoted(std::string(70'000, 'x'));
    std::string text;
    std::size_t moves = 0;
    JsonWriter to(text);
    to.begin_array();
    for (std::size_t written = 1; written <= kCount; ++written) {
        const char* const before = text.data();
        to.raw(element);
        to.reserve(written, kCount);
        if (text.data() != before) ++moves;
    }
    to.end_array();
    BOOST_TEST(moves == 1);
    BOOST_TEST(text.size() == kCount * (element.size() + 1) + 1);
}

BOOST_AUTO_TEST_CASE(a_large_first_element_reserves_at_most_8_mib) {
    std::string text;
    JsonWriter to(text);
    to.begin_array();
    to.raw(quoted(std::string(1 << 20, 'x')));
    to.reserve(1, 1000);
    BOOST_TEST(text.capacity() == std::size_t{8} << 20U);
}

BOOST_AUTO_TEST_CASE(any_other_text_is_not_a_document) {
    for (const std::string_view text : {"",         " ",
                                        "null",     "true",
                                        "1",        "\"x\"",
                                        "{",        "}",
                                        "[",        "[1",
                                        "[1,]",     "{\"a\"}",
                                        "{\"a\":}", "{\"a\":1,}",
                                        "{a:1}",    "{'a':1}",
                                        "[] []",    "{} x",
                                        "[1 2]",    "[nul]",
                                        "[NaN]",    "[Infinity]",
                                        "[\"x]",    "[\"\\x\"]",
                                        "<html>",   "{\"a\":1,\"a\":2}"}) {
        BOOST_TEST(!is_json(text), text);
    }
}

BOOST_AUTO_TEST_CASE(a_document_nested_too_deeply_is_rejected_without_a_crash) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    BOOST_TEST(is_json(nested(50)));
    BOOST_TEST(!is_json(nested(100)));
    BOOST_TEST(!is_json(nested(1000000)));
    BOOST_TEST(!is_json(std::string(1000000, '[')));
}

BOOST_AUTO_TEST_SUITE_END()
