// json/json_source.hpp: a value keeps its exact text, whatever surrounds it.
#include "json/json_source.hpp"

#include "json/json_body.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using namespace muster;
using json::compact_json;
using json::entries_as_sent;
using json::JsonBody;

namespace {

using Texts = std::vector<std::string>;

Texts entries(std::string_view container) {
    const auto found = entries_as_sent(container);
    return {found.begin(), found.end()};
}
Texts members(const std::string& body) {
    const JsonBody json(body);
    return json::members_as_sent(json.root(), body, "list", "key");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json_source)

BOOST_AUTO_TEST_CASE(entries_end_at_the_correct_byte) {
    BOOST_TEST(entries("[]") == Texts{});
    BOOST_TEST(entries(" [ \n ] ") == Texts{});
    BOOST_TEST(entries("{}") == Texts{});
    BOOST_TEST(entries(R"([1,"a",true,null,[2,3],{"b":4},-1.50e+2])") ==
               (Texts{"1", "\"a\"", "true", "null", "[2,3]", "{\"b\":4}", "-1.50e+2"}));
    BOOST_TEST(entries(" [ 1 , \"a\" ,\t[ 2 , 3 ]\n, { \"b\" : 4 } ] ") ==
               (Texts{"1", "\"a\"", "[ 2 , 3 ]", "{ \"b\" : 4 }"}));
    BOOST_TEST(entries(R"({"a":1,"b" : "c" , "d":{"e":[]},"":""})") ==
               (Texts{"1", "\"c\"", "{\"e\":[]}", "\"\""}));
}

BOOST_AUTO_TEST_CASE(brackets_and_quotes_within_strings_are_text) {
    BOOST_TEST(entries(R"(["]","}","a\"b,","\\",",","[{"])") ==
               (Texts{R"("]")", R"("}")", R"("a\"b,")", R"("\\")", R"(",")", R"("[{")"}));
    BOOST_TEST(entries(R"({"a\"}":"{","b:,":[":"],"\\":"\\\""})") ==
               (Texts{R"("{")", R"([":"])", R"("\\\"")"}));
}

BOOST_AUTO_TEST_CASE(compact_removes_only_the_space_between_tokens) {
    BOOST_TEST(compact_json(" { \"a b\" : [ 1.10 , -0 , 1E2 ] ,\r\n\t\"c\" : \" \\\" \" } ") ==
               R"({"a b":[1.10,-0,1E2],"c":" \" "})");
    BOOST_TEST(compact_json("\"\\u0041\"") == "\"\\u0041\"");
    BOOST_TEST(compact_json(R"("\n\\u00e4\"\u0000\u007f")") == R"("\n\\u00e4\"\u0000\u007f")");
    BOOST_TEST(compact_json("") == "");
}

BOOST_AUTO_TEST_CASE(escapes_of_non_ascii_characters_become_utf_8) {
    BOOST_TEST(compact_json(R"({"\u00e4" : "\u0080\u07ff\u0800\uFFFD\uD83D\uDE00x"})") ==
               "{\"\u00e4\":\"\xc2\x80"
               "\u07ff\u0800\ufffd\U0001f600x\"}");
}

BOOST_AUTO_TEST_CASE(members_are_found_by_their_decoded_name) {
    BOOST_TEST(members(R"({"other":{"key":0},"list":[{"key":1.0},{},{"a":"key","key":[ 2 ]},3,
                             {"\u006bey":"\u006b"},{"deep":{"key":4}},{"key":null}]})") ==
               (Texts{"1.0", "", "[2]", "", R"("\u006b")", "", "null"}));
    BOOST_TEST(members(R"({"li\u0073t":[{"key":true}]})") == Texts{"true"});
    for (const std::string none : {"{}", "[]", "1", R"({"list":{}})", R"({"list":[]})"}) {
        BOOST_TEST(members(none) == Texts{}, none);
    }
}

BOOST_AUTO_TEST_SUITE_END()
