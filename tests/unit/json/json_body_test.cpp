// json/json_body.hpp: the strictness table (docs/api/conventions.md "Conventions"), and equal texts
// for equal JSON.
#include "json/json_body.hpp"

#include "base/error.hpp"
#include "base/json_bounds.hpp"
#include "base/memory.hpp"

#include "print.hpp"
#include "processor_time.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using muster::count_json_parts;
using muster::Error;
using muster::ErrorCode;
using muster::kMostJsonEntries;
using muster::json::canonical_json;
using muster::json::JsonBody;
using muster::json::kMostReusedBytes;
namespace json = muster::json;

namespace {

// "" if the text is accepted, else the reason.
std::string refusal(std::string_view text) {
    try {
        const JsonBody body(text);
        return "";
    } catch (const Error& error) {
        BOOST_TEST(error.code() == ErrorCode::BadRequest);
        return error.details()["reason"].asString();
    }
}

bool is_good(std::string_view text) {
    return refusal(text).empty();
}

std::string canonical(std::string_view text) {
    return canonical_json(JsonBody(text).root());
}

// Of this process, in bytes.
std::int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t total = 0;
    std::int64_t resident = 0;
    statm >> total >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

constexpr std::size_t kLargest = std::size_t{16} << 20U;  // bytes of a body of any operation

// A body of up to `bytes` bytes that needs most memory for its size: as many numbers as are
// allowed, each of which takes 16 bytes in the parsed document, and a string.
std::string numbers_and_text(std::size_t bytes) {
    std::string body = "[0";
    for (std::size_t i = 2; i < kMostJsonEntries && body.size() + 6 <= bytes; ++i) body += ",0";
    if (body.size() + 4 < bytes) body += ",\"" + std::string(bytes - body.size() - 4, 'x') + "\"";
    return body + "]";
}

std::string nested(std::size_t depth, const std::string& inner = "") {
    return std::string(depth, '[') + inner + std::string(depth, ']');
}

std::string nested_objects(std::size_t depth) {
    std::string text = "1";
    for (std::size_t i = 0; i < depth; ++i) text = "{\"a\":" + text + "}";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json_body)

BOOST_AUTO_TEST_CASE(strict_json_is_accepted) {
    for (const std::string_view text : {
             "{}",
             "[]",
             " { \"a\" : [ 1 , -2.5e+3 , true , false , null , \"x\" ] } \r\n\t",
             "\"x\"",
             "0",
             "-0",
             "true",
             "null",
             "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00eb\"]",
             "[\"\\ud83d\\ude00\"]",
             "[\"Zo\u00eb \u4e2d \U0001f600\"]",
             "[18446744073709551615]",
             "[-9223372036854775808]",
             "[1.7976931348623157e308]",
             "[1e-400]",
             "{\"\":1}",
             "{\"a\":{\"b\":1},\"c\":{\"b\":1}}",
             "[\"\\u0000\"]",
             "[\"\x7f\"]",
         }) {
        BOOST_TEST(refusal(text) == "", text);
    }
}

BOOST_AUTO_TEST_CASE(everything_else_is_rejected) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {"", "the body is empty"},
        {" \n", "the body is empty"},
        {"\xef\xbb\xbf{}", "the body begins with a byte order mark"},
        {"{", "the body is not JSON"},
        {"{}}", "the body is not JSON"},
        {"{} {}", "the body is not JSON"},
        {"{} x", "the body is not JSON"},
        {"[1,]", "the body is not JSON"},
        {"{\"a\":1,}", "the body is not JSON"},
        {"{a:1}", "the body is not JSON"},
        {"{'a':1}", "the body is not JSON"},
        {"[1 2]", "the body is not JSON"},
        {"// c\n{}", "the body is not JSON"},
        {"{} /* c */", "the body is not JSON"},
        {"[nul]", "the body is not JSON"},
        {"[NaN]", "the body is not JSON"},
        {"[Infinity]", "the body is not JSON"},
        {"[+1]", "the body is not JSON"},
        {"[01]", "the body has a number that is malformed or too large"},
        {"[1.]", "the body has a number that is malformed or too large"},
        {"[-]", "the body has a number that is malformed or too large"},
        {"[1e999]", "the body has a number that is malformed or too large"},
        {"[01, 18446744073709551616]", "the body has a number that is malformed or too large"},
        {"[\"\\x\"]", "the body has a malformed string"},
        {"[\"\\u12\"]", "the body has a malformed string"},
        {"[\"\xff\"]", "the body is not UTF-8"},
        {"[\"\xc0\xaf\"]", "the body is not UTF-8"},
        {"[\"\xed\xa0\x80\"]", "the body is not UTF-8"},
        {"\"\xf8\"", "the body is not UTF-8"},
        {"{\"a\":1,\"a\":2}", "the body has an object with the same key twice"},
        {"{\"a\":1,\"\\u0061\":2}", "the body has an object with the same key twice"},
        {"[{\"x\":{\"k\":1,\"j\":2,\"k\":1}}]", "the body has an object with the same key twice"},
        {"{\"\":1,\"\":1}", "the body has an object with the same key twice"},
    };
    for (const auto& [text, reason] : table) BOOST_TEST(refusal(text) == reason, text);
    for (const std::string_view text :
         {"[\"a\nb\"]", "[\"\x01\"]", "[\"open]", "\"", "[\"\\ud83d\\u0041\"]"}) {
        BOOST_TEST(!is_good(text), text);
    }
    BOOST_TEST(!is_good(std::string_view("[1\0]", 4)));
}

BOOST_AUTO_TEST_CASE(a_key_is_found_twice_in_each_large_object) {
    const auto object = [](int keys, const std::string& last) {
        std::string text = "{";
        for (int key = 0; key < keys; ++key) text += "\"k" + std::to_string(key) + "\":1,";
        return text + "\"" + last + "\":1}";
    };
    const std::string good = object(20, "last");
    for (const std::string& bad : {object(20, "k0"), object(20, "k19"), object(17, "k7")}) {
        for (const std::string& text : {bad, "[" + good + "," + bad + "]",
                                        "[" + good + "," + good + "," + bad + "," + good + "]"}) {
            BOOST_TEST(refusal(text) == "the body has an object with the same key twice", text);
        }
    }
    for (const std::string& text :
         {"[" + good + "," + good + "]", "[" + good + "," + object(21, "last") + "," + good + "]",
          "[" + good + "," + object(19, "k19") + "]"}) {
        BOOST_TEST(is_good(text), text);
    }
}

BOOST_AUTO_TEST_CASE(a_lone_surrogate_is_rejected_at_any_position) {
    for (const std::string half : {"\\ud800", "\\udbff", "\\udc00", "\\udfff", "\\uDEAD"}) {
        for (const std::string& text :
             {"\"" + half + "\"", "[\"a" + half + "b\"]", "{\"k\":\"" + half + "\"}",
              "{\"" + half + "\":1}", "[[{\"k\":[\"" + half + half + "\"]}]]",
              "{\"" + half + "\":{\"a\":1}}"}) {
            BOOST_TEST(!is_good(text), text);
        }
    }
    BOOST_TEST(!is_good("[\"\\ude00\\ud83d\"]"));
    BOOST_TEST(is_good("[\"\\ud7ff\\ue000\"]"));  // the code points next to them
}

BOOST_AUTO_TEST_CASE(a_duplicate_key_is_found_among_many) {
    std::string keys;
    for (int i = 0; i < 100; ++i)
        keys += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
    BOOST_TEST(is_good("{" + keys + "}"));
    for (const std::string again : {"k0", "k50", "k99"}) {
        BOOST_TEST(!is_good("{" + keys + ",\"" + again + "\":0}"), again);
    }
}

BOOST_AUTO_TEST_CASE(sixty_four_levels_are_accepted_and_sixty_five_are_not) {
    BOOST_TEST(is_good(nested(64)));
    BOOST_TEST(is_good(nested(64, "1")));
    BOOST_TEST(is_good(nested_objects(64)));
    BOOST_TEST(is_good("[" + nested(63) + ",[],{},1]"));
    const std::string reason = "the body is nested deeper than 64 levels";
    BOOST_TEST(refusal(nested(65)) == reason);
    BOOST_TEST(refusal(nested(65, "1")) == reason);
    BOOST_TEST(refusal(nested(64, "{}")) == reason);
    BOOST_TEST(refusal(nested_objects(65)) == reason);
    BOOST_TEST(refusal(nested_objects(64).insert(5, "{\"a\":").append("}")) == reason);
    BOOST_TEST(!is_good(std::string(1'000'000, '[')));
    BOOST_TEST(is_good(nested(64)));  // the parser remains usable
}

// `count` times the text, separated by commas and enclosed.
std::string list_of(const std::string& text, std::size_t count, const char* enclosed = "[]") {
    std::string list(1, enclosed[0]);
    for (std::size_t i = 0; i < count; ++i) (list += i == 0 ? "" : ",") += text;
    return list + enclosed[1];
}

std::string object_of(int members) {
    std::string object = "{";
    for (int i = 0; i < members; ++i) {
        object.append(i == 0 ? "\"" : ",\"").append(std::to_string(7919 * i)).append("\":1");
    }
    return object + "}";
}

BOOST_AUTO_TEST_CASE(an_object_has_at_most_a_thousand_members) {
    BOOST_TEST(is_good(object_of(1'000)));
    BOOST_TEST(refusal(object_of(1'001)) == "the body has an object with more than 1,000 members");
}

BOOST_AUTO_TEST_CASE(a_large_body_has_at_most_a_thousand_long_numbers) {
    const std::string reason =
        "the body has more than 1,000 numbers of more than 19 digits; a minus before 19 digits "
        "counts as a digit";
    const std::string filler = "\"" + std::string(65'536, 'x') + "\"";
    const auto numbers = [&](const std::string& number, std::size_t count) {
        return "[" + filler + "," + list_of(number, count) + "]";
    };
    for (const char* number :
         {"1.2345678901234567890", "12345678901234567890e-30", "-0.00000000000000000001",
          "0.12345678901234567890123", "18446744073709551616", "-9223372036854775809",
          "-1234567890123456789.5"}) {
        BOOST_TEST(is_good(numbers(number, 1'000)), number);
        BOOST_TEST(refusal(numbers(number, 1'001)) == reason, number);
    }
    for (const char* number : {"1.234567890123456789", "-1.234567890123456789",
                               "9999999999999999999", "-999999999999999999"}) {
        BOOST_TEST(is_good(numbers(number, 2'000)), number);
    }
    BOOST_TEST(is_good(numbers(R"("a\\\": 12345678901234567890")", 2'000)));  // in a string
    BOOST_TEST(is_good(list_of("1.2345678901234567890", 2'000)));             // in a small body
}

BOOST_AUTO_TEST_CASE(a_body_has_at_most_a_million_entries_and_members) {
    const std::string reason =
        "the body has more than 1,000,000 array entries and object members; send it in several "
        "calls";
    BOOST_TEST(is_good(list_of("1", 1'000'000)));
    BOOST_TEST(refusal(list_of("1", 1'000'001)) == reason);
    BOOST_TEST(is_good(list_of("[]", 500'000)));  // each is an entry, and counts as one more
    BOOST_TEST(refusal(list_of("[]", 500'001)) == reason);
    BOOST_TEST(is_good(list_of(R"({"a":0})", 500'000)));
    BOOST_TEST(refusal(list_of(R"({"a":0})", 500'001)) == reason);
    BOOST_TEST(is_good(list_of(R"(",[{\",[{")", 500'000)));  // in strings
    BOOST_TEST(refusal("[" + std::string(2'000'000, ',')) == reason);
}

// A list of as many of these entries as a body may have.
std::string longest_list(const std::string& entry) {
    const std::size_t each = count_json_parts(entry).entries + 1;
    return list_of(entry, std::min(kMostJsonEntries / each, kLargest / (entry.size() + 1) - 1));
}

// Objects with a thousand keys, in another order in each: they are sorted to find a key twice.
std::string objects_of_a_thousand() {
    std::string body = "[0";
    for (int object = 0; object < 990; ++object) {
        const int step = object % 2 == 0 ? 3 : 7;
        body += R"(,{"0":0)";
        for (int i = 1; i < 1'000; ++i) {
            body.append(",\"").append(std::to_string(i * step % 1'000)).append("\":0");
        }
        body += "}";
    }
    return body + "]";
}

BOOST_AUTO_TEST_CASE(the_costliest_bodies_take_bounded_processor_time) {
    std::string numbers = longest_list("1");
    numbers.replace(numbers.size() - 2, 1, "18446744073709551616");  // for a second parse
    for (const std::string& body :
         {objects_of_a_thousand(), longest_list("{}"), longest_list("1"), longest_list(R"({"":0})"),
          longest_list("1.2345678901234e-305"), longest_list("[" + nested(60) + "]"),
          longest_list(R"("\u00e9\u00e9")"), numbers}) {
        bool good = false;
        const double used = muster::test::processor_milliseconds([&] { good = is_good(body); });
        BOOST_TEST(good, body.substr(0, 40));
        BOOST_TEST(used < muster::test::processor_limit(), body.substr(0, 40));
    }
}

BOOST_AUTO_TEST_CASE(costly_bodies_are_refused_in_bounded_processor_time) {
    for (const std::string& entry :
         {object_of(1'000), std::string("{}"), std::string("1"),
          std::string("1.2345678901234567890123e-305"), std::string("-9999999999999999999"),
          "[" + nested(60) + "]", std::string(R"("\",,,,")"), std::string(":"),
          std::string(R"("\u00e9\u00e9")")}) {
        const std::string body = list_of(entry, kLargest / (entry.size() + 1) - 1);
        bool good = true;
        const double used = muster::test::processor_milliseconds([&] { good = is_good(body); });
        BOOST_TEST(!good, body.substr(0, 40));
        BOOST_TEST(used < muster::test::processor_limit(), entry.substr(0, 20));
    }
}

BOOST_AUTO_TEST_CASE(bodies_of_any_size_are_read_one_after_the_other) {
    for (const std::size_t size : {1U, 5'000'000U, 10U, 100'000U}) {
        const JsonBody body("[\"" + std::string(size, 'x') + "\"]");
        const std::string_view text = *(*body.root().array()->begin()).string();
        BOOST_TEST(text.size() == size);
    }
}

BOOST_AUTO_TEST_CASE(several_bodies_can_be_open_at_once) {
    const JsonBody first(R"({"key":"first"})");
    const std::optional<JsonBody> second(std::in_place, R"({"key":"second"})");
    { const JsonBody third("[3]"); }
    const JsonBody fourth(R"({"key":"fourth"})");
    BOOST_TEST(first.root().member("key")->string().value() == "first");
    BOOST_TEST(second->root().member("key")->string().value() == "second");
    BOOST_TEST(fourth.root().member("key")->string().value() == "fourth");
}

// ---------------------------------------------------------------------------- memory

// The address sanitizer keeps freed memory for a while.
#ifdef MUSTER_SANITIZED
constexpr bool kIsMemoryFreed = false;
#else
constexpr bool kIsMemoryFreed = true;
#endif

BOOST_AUTO_TEST_CASE(the_memory_for_a_large_body_is_freed_after_it,
                     *boost::unit_test::enable_if<kIsMemoryFreed>()) {
    const std::string large = numbers_and_text(kLargest);
    const std::string incomplete = large.substr(0, large.size() - 1);
    BOOST_TEST(is_good("[0]"));
    muster::release_freed_memory();  // of other tests
    const std::int64_t before = resident_bytes();
    {
        const JsonBody body(large);
        BOOST_TEST(resident_bytes() - before > 24 << 20);  // the test would otherwise show nothing
    }
    BOOST_TEST(resident_bytes() - before < 8 << 20);
    BOOST_TEST(!is_good(incomplete));
    BOOST_TEST(resident_bytes() - before < 8 << 20);
    BOOST_TEST(is_good("[0]"));
}

BOOST_AUTO_TEST_CASE(bodies_of_several_sizes_are_read_in_any_order) {
    for (const std::size_t size : {std::size_t{3}, kMostReusedBytes + 2, std::size_t{5000},
                                   kMostReusedBytes, kMostReusedBytes + 2, std::size_t{3}}) {
        const std::string text = numbers_and_text(size);
        BOOST_TEST(JsonBody(text).root().array()->size() == count_json_parts(text).entries, size);
    }
}

// ---------------------------------------------------------------------------- equal JSON

BOOST_AUTO_TEST_CASE(equal_json_has_an_equal_text) {
    const std::vector<std::pair<std::string, std::string>> table = {
        {R"({"a":1,"b":2})", R"( { "b" : 2 , "a" : 1 } )"},
        {R"({"a":{"c":[1,2],"b":null}})", R"({"a":{"b":null,"c":[ 1, 2 ]}})"},
        {R"(["\u00eb\n\/"])", "[\"\u00eb\\u000a/\"]"},
        {R"({"\u0061":1})", R"({"a":1})"},
        {"[1.50, 1e2]", "[1.5, 100.0]"},
        {"[5, -0, 1e2]", "[5.0, -0.0, 100]"},
        {"[]", " [ ] "},
    };
    for (const auto& [left, right] : table) BOOST_TEST(canonical(left) == canonical(right), left);
}

BOOST_AUTO_TEST_CASE(other_json_has_another_text) {
    const std::vector<std::string> texts = {
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "null",
        "true",
        "false",
        "0",
        "1",
        "\"1\"",
        "[1,2]",
        "[2,1]",
        "[12]",
        "[1,[2]]",
        "[[1],2]",
        "[[1,2]]",
        R"({"a":1})",
        R"({"a":"1"})",
        R"({"a":[1]})",
        R"({"a":{"b":1}})",
        R"({"a":1,"b":1})",
        R"(["a,b"])",
        R"(["a","b"])",
        R"(["a\",\"b"])",
        R"({"a\":1,\"b":1})",
        R"({"A":1})",
        "\"\"",
        "[\"\"]",
        "[null]",
        "9007199254740993",
        "9007199254740992",
    };
    for (const std::string& left : texts) {
        for (const std::string& right : texts) {
            BOOST_TEST((canonical(left) == canonical(right)) == (left == right),
                       left + " " + right);
        }
    }
}

// ---------------------------------------------------------------------------- large numbers

BOOST_AUTO_TEST_CASE(an_integer_beyond_64_bits_is_a_number_with_all_its_digits) {
    const std::string most(308, '9');
    for (const std::string& number :
         {std::string("18446744073709551616"), std::string("-9223372036854775809"),
          std::string("123456789012345678901234567890"), most, "-" + most}) {
        const JsonBody body("{\"a\": [" + number + ", 1, \"x\"]}");
        const auto value = *body.root().member("a")->array()->begin();
        BOOST_TEST(value.is_number());
        BOOST_TEST(!value.is_string());
        BOOST_TEST(!value.string().has_value());
        BOOST_TEST(!value.integer().has_value());
        BOOST_TEST(!json::whole_number(value).has_value());
        BOOST_TEST(value.number().value() == std::stod(number));
        BOOST_TEST(json::minified(body.root()) == "{\"a\":[" + number + ",1,\"x\"]}");
        std::string printed;
        json::append_value(printed, value);
        BOOST_TEST(printed == number);
        json::JsonParser parser;
        BOOST_TEST(json::minified(parser.parse("[" + number + "]").value()) == "[" + number + "]");
    }
}

BOOST_AUTO_TEST_CASE(integers_of_64_bits_and_texts_of_digits_are_not_large) {
    const JsonBody body(R"([18446744073709551615, -9223372036854775808, "18446744073709551616",
                            18446744073709551616])");
    std::vector<json::JsonKind> kinds;
    const auto values = body.root().array();
    for (const auto& value : *values) kinds.push_back(value.kind());
    using Kind = json::JsonKind;
    BOOST_TEST(
        (kinds == std::vector<Kind>{Kind::Unsigned, Kind::Signed, Kind::String, Kind::Large}));
}

BOOST_AUTO_TEST_CASE(large_numbers_are_compared_digit_by_digit) {
    BOOST_TEST(canonical("[18446744073709551616]") == canonical(" [ 18446744073709551616 ]"));
    BOOST_TEST(canonical("[18446744073709551616]") != canonical("[18446744073709551617]"));
    BOOST_TEST(canonical("[18446744073709551616]") != canonical("[\"18446744073709551616\"]"));
}

BOOST_AUTO_TEST_CASE(malformed_text_next_to_a_large_number_is_rejected) {
    for (const std::string_view text :
         {R"({123456789012345678901234567890: 1})", R"({123456789012345678901234567890 : 1})",
          R"([0123456789012345678901234567890])", R"([123456789012345678901234567890x])",
          R"([+123456789012345678901234567890])", R"([--123456789012345678901234567890])",
          R"([123456789012345678901234567890, "\udc00"])", R"([123456789012345678901234567890)",
          R"([123456789012345678901234567890, "])",
          R"({"a": 123456789012345678901234567890, "a": 1})"}) {
        BOOST_TEST(!is_good(text), text);
        json::JsonParser parser;
        const bool is_repeated_key = text.find("\"a\"") != std::string_view::npos;
        BOOST_TEST(parser.parse(text).has_value() == is_repeated_key, text);
    }
    BOOST_TEST(!is_good("[1" + std::string(308, '0') + "]"));
}

BOOST_AUTO_TEST_CASE(strings_next_to_a_large_number_are_unchanged) {
    const std::string text =
        R"(["1\"234567890123456789012345678901","\\",18446744073709551616,"-","\u00e9"])";
    BOOST_TEST(
        json::minified(JsonBody(text).root()) ==
        "[\"1\\\"234567890123456789012345678901\",\"\\\\\",18446744073709551616,\"-\",\"\xc3\xa9\"]");
}

BOOST_AUTO_TEST_SUITE_END()
