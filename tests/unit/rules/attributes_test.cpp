// rules/attributes.hpp: the registry, the validation of values and the two forms of a member's
// attributes.
#include "rules/attributes.hpp"

#include "base/json.hpp"

#include "print.hpp"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace rules = muster::rules;
using muster::Timestamp;
using muster::rules::Attribute;
using muster::rules::attribute_document;
using muster::rules::attribute_values;
using muster::rules::AttributeRegistry;
using muster::rules::AttributeResult;
using muster::rules::AttributeType;
using muster::rules::AttributeValue;
using muster::rules::is_attribute_key;
using muster::rules::Provenance;
using muster::rules::validate_attributes;

namespace {

AttributeRegistry registry() {
    return AttributeRegistry({
        {"t", "Text", AttributeType::Text, {}, true},
        {"n", "Number", AttributeType::Number, {}, true},
        {"d", "Date", AttributeType::Date, {}, true},
        {"b", "Boolean", AttributeType::Boolean, {}, true},
        {"s", "Single", AttributeType::SingleChoice, {"S", "M", "L", "2024-01-01"}, true},
        {"m", "Multi", AttributeType::MultiChoice, {"news", "events", "offers"}, true},
        {"off", "Disabled", AttributeType::Text, {}, false},
        {"address.city", "City", AttributeType::Text, {}, true},
        {"none", "No choices", AttributeType::SingleChoice, {}, true},
        {"nothing", "No choices", AttributeType::MultiChoice, {}, true},
    });
}

// "good", "unknown <key>", "invalid <key>"
std::string verdict_of(std::string_view json) {
    static const AttributeRegistry known = registry();
    const auto result = validate_attributes(known, json);
    switch (result.result) {
        case AttributeResult::Good:
            return "good" + result.key;
        case AttributeResult::UnknownKey:
            return "unknown " + result.key;
        case AttributeResult::InvalidValue:
            return "invalid " + result.key;
    }
    return "";
}

struct ValidationCase {
    std::string json;
    std::string verdict;
};

void check(const std::vector<ValidationCase>& table) {
    for (const ValidationCase& row : table) {
        BOOST_TEST_CONTEXT("json <" << row.json << ">") {
            BOOST_TEST(verdict_of(row.json) == row.verdict);
        }
    }
}

std::string documented(std::string_view json, Provenance provenance = Provenance::Import) {
    return attribute_document(json, provenance, Timestamp(1763632800123));
}

// Texts that are not JSON or not an object.
const std::vector<std::string> kGarbage = {
    " ",
    "{",
    "}",
    "{}{}",
    "{} x",
    "[]",
    "[1]",
    "null",
    "true",
    "1",
    "\"t\"",
    "{\"t\"}",
    "{\"t\":}",
    "{\"t\":\"x\"",
    "{\"t\":\"x\",}",
    "{t:\"x\"}",
    "{'t':'x'}",
    "{\"t\":\"x\ny\"}",
    "{\"t\":\"\xff\"}",
    "{\"t\":\"\xed\xa0\x80\"}",
    "{\"t\":\"\\ud800\"}",
    "{\"t\":\"\\udc00\"}",
    "{\"t\":\"\\ud800\\u0041\"}",
    "{\"\\udc00\":\"x\"}",
    "{\"t\":\"\\x\"}",
    "{\"t\":\"x\",\"t\":\"x\"}",
    "{\"t\":\"x\",\"n\":1,\"\\u0074\":\"y\"}",
    "{\"n\":01}",
    "{\"n\":+1}",
    "{\"n\":.5}",
    "{\"n\":1e999}",
    "{\"n\":NaN}",
    std::string("\0\0\0\0", 4),
    std::string("{}\0", 3),
    "\xef\xbb\xbf{",
    "nonsense \x01\x02\xfe\xff",
};

}  // namespace

BOOST_AUTO_TEST_SUITE(attributes)

BOOST_AUTO_TEST_CASE(types_and_provenances_have_their_contract_names) {
    const std::vector<std::pair<AttributeType, std::string_view>> table = {
        {AttributeType::Text, "text"},
        {AttributeType::Number, "number"},
        {AttributeType::Date, "date"},
        {AttributeType::Boolean, "boolean"},
        {AttributeType::SingleChoice, "single_choice"},
        {AttributeType::MultiChoice, "multi_choice"},
    };
    for (const auto& [type, text] : table) {
        BOOST_TEST(text_of(type) == text);
        BOOST_TEST(muster::parse<AttributeType>(text) == type);
    }
    for (const std::string_view text : {"", "Text", "text ", "string", "int", "single-choice"}) {
        BOOST_TEST(!muster::parse<AttributeType>(text).has_value(), text);
    }
    BOOST_TEST(text_of(Provenance::Import) == "import");
    BOOST_TEST(text_of(Provenance::Api) == "api");
}

BOOST_AUTO_TEST_CASE(keys_are_lower_case_parts_joined_by_dots) {
    for (const std::string_view key : {"a", "phone", "favourite_team", "address.line1", "a1", "a_",
                                       "a__b", "a.b.c.d", "x9.y_8.z"}) {
        BOOST_TEST(is_attribute_key(key), key);
    }
    for (const std::string_view key :
         {"",     "A",   "Phone", "1a",  "_a", ".a", "a.",       "a..b",      ".",   "a.1",
          "a._b", "a b", "a-b",   "a.B", " a", "a ", "\xc3\xa4", "a\xc3\xa4", "a/b", "a\n"}) {
        BOOST_TEST(!is_attribute_key(key), key);
    }
    BOOST_TEST(!is_attribute_key(std::string_view("a\0", 2)));
    BOOST_TEST(is_attribute_key(std::string(64, 'a')));
    BOOST_TEST(!is_attribute_key(std::string(65, 'a')));
}

BOOST_AUTO_TEST_CASE(only_enabled_attributes_are_found) {
    const AttributeRegistry known = registry();
    BOOST_TEST_REQUIRE(known.find("t"));
    BOOST_TEST(known.find("t")->label == "Text");
    BOOST_TEST(known.find("address.city")->key == "address.city");
    BOOST_TEST(!known.find("off"));
    BOOST_TEST(!known.find("unheard_of"));
    BOOST_TEST(!known.find(""));
    BOOST_TEST(!known.find("T"));
    BOOST_TEST(!AttributeRegistry().find("t"));
}

BOOST_AUTO_TEST_CASE(all_attributes_are_listed_in_their_order) {
    std::string keys;
    const AttributeRegistry known = registry();
    for (const Attribute& attribute : known.all()) keys += attribute.key + ' ';
    BOOST_TEST(keys == "t n d b s m off address.city none nothing ");
}

BOOST_AUTO_TEST_CASE(a_copied_registry_finds_its_own_attributes) {
    AttributeRegistry copy;
    {
        const AttributeRegistry original = registry();
        copy = original;
    }
    BOOST_TEST(copy.find("s") == &copy.all()[4]);
}

BOOST_AUTO_TEST_CASE(each_type_accepts_only_its_own_json_type) {
    const std::vector<std::string> keys = {"t", "n", "d", "b", "s", "m"};
    struct Row {
        std::string value;
        std::string good_for;
    };
    const std::vector<Row> table = {
        {"\"some text\"", "t"},
        {"\"\"", "t"},
        {"\"2024-01-01\"", "tds"},
        {"\"M\"", "ts"},
        {"\"1\"", "t"},
        {"\"true\"", "t"},
        {"1", "n"},
        {"0", "n"},
        {"-1.5e3", "n"},
        {"18446744073709551615", "n"},
        {"-9223372036854775808", "n"},
        {"0.1", "n"},
        {"true", "b"},
        {"false", "b"},
        {"null", ""},
        {"[]", "m"},
        {"[\"news\"]", "m"},
        {"[\"offers\",\"news\",\"events\"]", "m"},
        {"[\"other\"]", ""},
        {"[1]", ""},
        {"[null]", ""},
        {"[true]", ""},
        {"[[]]", ""},
        {"[{}]", ""},
        {"[\"news\",1]", ""},
    };
    for (const Row& row : table) {
        for (const std::string& key : keys) {
            const bool good = row.good_for.find(key) != std::string::npos;
            const std::string json = "{\"" + key + "\":" + row.value + "}";
            BOOST_TEST_CONTEXT("json <" << json << ">") {
                BOOST_TEST(verdict_of(json) == (good ? "good" : "invalid " + key));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_date_must_exist) {
    check({
        {R"({"d":"2024-02-29"})", "good"},
        {R"({"d":"2000-02-29"})", "good"},
        {R"({"d":"1899-12-31"})", "good"},
        {R"({"d":"9999-12-31"})", "good"},
        {R"({"d":"1900-02-29"})", "invalid d"},
        {R"({"d":"2023-02-29"})", "invalid d"},
        {R"({"d":"2023-13-01"})", "invalid d"},
        {R"({"d":"0000-01-01"})", "invalid d"},
        {R"({"d":"2023-1-1"})", "invalid d"},
        {R"({"d":"01.02.2023"})", "invalid d"},
        {R"({"d":"2023-01-01T00:00:00Z"})", "invalid d"},
        {R"({"d":" 2023-01-01"})", "invalid d"},
        {R"({"d":"2023-01-0\u0031"})", "good"},
    });
}

BOOST_AUTO_TEST_CASE(a_choice_matches_an_option_exactly) {
    check({
        {R"({"s":"S"})", "good"},
        {R"({"s":"s"})", "invalid s"},
        {R"({"s":"S "})", "invalid s"},
        {R"({"s":""})", "invalid s"},
        {R"({"s":"XL"})", "invalid s"},
        {R"({"s":["S"]})", "invalid s"},
        {R"({"none":"S"})", "invalid none"},
        {R"({"none":""})", "invalid none"},
    });
}

BOOST_AUTO_TEST_CASE(several_choices_are_distinct_options) {
    check({
        {R"({"m":[]})", "good"},
        {R"({"m":["events","news"]})", "good"},
        {R"({"m":["news","news"]})", "invalid m"},
        {R"({"m":["news","events","news"]})", "invalid m"},
        {R"({"m":["news","events","offers","news"]})", "invalid m"},
        {R"({"m":["News"]})", "invalid m"},
        {R"({"m":"news"})", "invalid m"},
        {R"({"m":"news,events"})", "invalid m"},
        {R"({"m":{"news":true}})", "invalid "},
        {R"({"nothing":[]})", "good"},
        {R"({"m":["news"],"nothing":[]})", "good"},
        {R"({"nothing":["x"]})", "invalid nothing"},
    });
}

BOOST_AUTO_TEST_CASE(unknown_and_disabled_keys_are_unknown) {
    check({
        {R"({"unheard_of":"x"})", "unknown unheard_of"},
        {R"({"off":"x"})", "unknown off"},
        {R"({"off":5})", "unknown off"},
        {R"({"T":"x"})", "unknown T"},
        {R"({"":"x"})", "unknown "},
        {R"({"no key":"x"})", "unknown no key"},
        {R"({"\u0074":"x"})", "good"},
        {R"({"address":{"city":"x"}})", "invalid "},
        {R"({"address.city":"x"})", "good"},
    });
}

BOOST_AUTO_TEST_CASE(the_first_fault_in_object_order_is_reported) {
    check({
        {R"({"t":"x","n":1,"d":"2024-01-01","b":false,"s":"M","m":["news"]})", "good"},
        {R"({"t":"x","n":"1","b":"no"})", "invalid n"},
        {R"({"t":"x","b":"no","n":"1"})", "invalid b"},
        {R"({"nope":1,"n":"1"})", "unknown nope"},
        {R"({"n":"1","nope":1})", "invalid n"},
        {R"({"nope":1,"t":{}})", "unknown nope"},
    });
}

BOOST_AUTO_TEST_CASE(empty_attributes_are_valid) {
    check({{"", "good"}, {"{}", "good"}, {" { } ", "good"}});
    BOOST_TEST(validate_attributes(AttributeRegistry(), "{}").result == AttributeResult::Good);
}

BOOST_AUTO_TEST_CASE(garbage_is_an_invalid_value_without_a_key) {
    for (const std::string& json : kGarbage) check({{json, "invalid "}});
    check({
        {R"({"t":{}})", "invalid "},
        {R"({"t":{"a":1}})", "invalid "},
        {std::string(2000, '['), "invalid "},
        {std::string(2000, '{'), "invalid "},
    });
}

BOOST_AUTO_TEST_CASE(decoded_values_are_validated_without_json) {
    using Kind = AttributeValue::Kind;
    const AttributeRegistry known = registry();
    BOOST_TEST(known.check("t", {Kind::String, "x", {}}) == AttributeResult::Good);
    BOOST_TEST(known.check("n", {Kind::Number, "", {}}) == AttributeResult::Good);
    BOOST_TEST(known.check("n", {Kind::String, "1", {}}) == AttributeResult::InvalidValue);
    BOOST_TEST(known.check("m", {Kind::StringArray, "", {"news"}}) == AttributeResult::Good);
    BOOST_TEST(known.check("m", {Kind::Other, "", {}}) == AttributeResult::InvalidValue);
    BOOST_TEST(known.check("off", {Kind::String, "x", {}}) == AttributeResult::UnknownKey);
}

BOOST_AUTO_TEST_CASE(a_document_holds_value_provenance_and_time_of_each_key) {
    BOOST_TEST(documented(R"({"t":"x"})") == R"({"t":["x","import",1763632800123]})");
    BOOST_TEST(documented(R"({"t":"x"})", Provenance::Api) == R"({"t":["x","api",1763632800123]})");
    BOOST_TEST(documented(R"({ "b" : true , "m" : [ "news" , "events" ], "n" : -12 })") ==
               R"({"b":[true,"import",1763632800123],)"
               R"("m":[["news","events"],"import",1763632800123],)"
               R"("n":[-12,"import",1763632800123]})");
    BOOST_TEST(attribute_document(R"({"t":"x"})", Provenance::Import, Timestamp(0)) ==
               R"({"t":["x","import",0]})");
}

BOOST_AUTO_TEST_CASE(empty_attributes_make_an_empty_document) {
    BOOST_TEST(documented("") == "{}");
    BOOST_TEST(documented("{}") == "{}");
    for (const std::string& json : kGarbage) BOOST_TEST(documented(json) == "{}", json);
}

BOOST_AUTO_TEST_CASE(values_are_read_from_a_document_unchanged) {
    for (const std::string_view json : {
             R"({"t":"x"})",
             R"({"t":"x","n":1,"d":"2024-01-01","b":false,"s":"M","m":["news","offers"]})",
             R"({"t":"quote \" backslash \\ tab \t null \u0000 slash / end"})",
             R"({"t":"]}\",[{"})",
             "{\"t\":\"Zo\u00eb \u4f60 \U0001f600\"}",
             R"({"m":[]})",
             R"({"m":["a \"b\"","c"]})",
             R"({"n":0,"n2":-1,"n3":18446744073709551615,"n4":-9223372036854775808})",
             R"({"n":18446744073709551616,"n2":-123456789012345678901234567890,"n3":[1]})",
             R"({"n":0.1,"n2":1.5,"n3":-0.25,"n4":3.141592653589793})",
             R"({"":"empty key"})",
             R"({"key \"quoted\"":"x"})",
             "{}",
         }) {
        BOOST_TEST(attribute_values(documented(json)) == json);
    }
}

BOOST_AUTO_TEST_CASE(numbers_keep_their_value_in_a_document) {
    for (const double number : {1e5, 1e22, 1.7976931348623157e308, 5e-324, 1.0, -0.1, 1e-7}) {
        Json::Value in(Json::objectValue);
        in["n"] = number;
        char text[64];
        std::snprintf(text, sizeof text, "{\"n\":%.17g}", number);
        Json::Value out;
        BOOST_TEST_REQUIRE(muster::parse_json(attribute_values(documented(text)), out));
        BOOST_TEST(out["n"].asDouble() == number);
    }
}

BOOST_AUTO_TEST_CASE(a_large_object_is_accepted) {
    std::string json = "{";
    for (int i = 0; i < 100; ++i) {
        if (i > 0) json += ',';
        json += "\"key" + std::to_string(i) + "\":\"" + std::string(4000, 'v') + "\"";
    }
    json += '}';
    BOOST_TEST(attribute_values(documented(json)) == json);
    BOOST_TEST(verdict_of(json) == "unknown key0");
    BOOST_TEST(verdict_of(R"({"t":"small again"})") == "good");
}

BOOST_AUTO_TEST_CASE(an_invalid_document_has_no_values) {
    for (const std::string& document : kGarbage) {
        BOOST_TEST(attribute_values(document) == "{}", document);
    }
    for (const std::string_view document : {
             "",
             R"({"t":"x"})",
             R"({"t":{}})",
             R"({"t":null})",
             R"({"t":[]})",
             R"({"t":["x"]})",
             R"({"t":["x","import"]})",
             R"({"t":["x","import",1,2]})",
             R"({"t":["x",1,"import"]})",
             R"({"t":["x",null,1]})",
             R"({"t":["x","import","1"]})",
             R"({"t":["x","import",1.5]})",
             R"({"t":["x","import",null]})",
             R"({"t":["x","import",1],"u":"x"})",
             R"({"t":["x","import",1],"t":["y","import",1]})",
             R"({"t":["\udc00","import",1]})",
             R"({"\udc00":["x","import",1]})",
         }) {
        BOOST_TEST(attribute_values(document) == "{}", document);
    }
    BOOST_TEST(attribute_values(std::string(5000, '[')) == "{}");
}

BOOST_AUTO_TEST_CASE(the_values_of_any_stored_text_are_an_object) {
    std::mt19937 random(20261120);
    const std::string document = documented(R"({"t":"a \"b\" c","m":["news"],"n":1.5,"b":true})");
    constexpr std::string_view kBytes = "{}[]\",:\\0.e-ntu \xff";
    for (int round = 0; round < 20000; ++round) {
        std::string changed = document;
        for (std::size_t count = 1 + random() % 3; count > 0; --count) {
            const std::size_t at = random() % changed.size();
            if (random() % 2 == 0)
                changed.erase(at, 1 + random() % 4);
            else
                changed[at] = kBytes[random() % kBytes.size()];
        }
        Json::Value values;
        BOOST_TEST_REQUIRE(muster::parse_json(attribute_values(changed), values), changed);
        BOOST_TEST_REQUIRE(values.isObject(), changed);
        BOOST_TEST_REQUIRE(!verdict_of(changed).empty(), changed);
    }
}

BOOST_AUTO_TEST_CASE(a_document_with_the_spacing_of_the_database_is_read) {
    BOOST_TEST(attribute_values(R"({"n": [1, "api", 5], "t": ["x y", "import", 6]})") ==
               R"({"n":1,"t":"x y"})");
}

BOOST_AUTO_TEST_CASE(changes_of_a_document_add_replace_and_clear_keys) {
    const Timestamp now(9);
    const std::string stored = R"({"b":[1,"import",5],"a":["x","api",6]})";
    const auto change = [&](std::string_view changes) {
        return rules::changed_document(stored, changes, rules::Provenance::Api, now).value_or("-");
    };
    BOOST_TEST(change(R"({"b":2})") == R"({"a":["x","api",6],"b":[2,"api",9]})");
    BOOST_TEST(change(R"({"a":null,"c":["y"]})") == R"({"b":[1,"import",5],"c":[["y"],"api",9]})");
    BOOST_TEST(change(R"({"a":null,"b":null})") == "{}");
    for (const char* same : {"", "{}", R"({"b":1})", R"({"b":1.0})", R"({"b":1e0})",
                             R"({"c":null})", R"({"a":"\u0078"})"}) {
        BOOST_TEST(change(same) == "-", same);
    }
}

BOOST_AUTO_TEST_CASE(an_invalid_stored_document_is_not_changed) {
    for (const char* bad : {"", "[]", R"({"a":1})", R"({"a":[1,"api"]})", R"({"a":[1,"who",5]})",
                            R"({"a":[1,"api","5"]})", R"({"a":[1,"api",5],"a":[1,"api",5]})"}) {
        BOOST_CHECK_THROW((void)rules::attribute_entries(bad), std::invalid_argument);
        BOOST_CHECK_THROW((void)rules::changed_document(bad, "{}", rules::Provenance::Api, {}),
                          std::invalid_argument);
    }
}

BOOST_AUTO_TEST_CASE(entries_of_a_document_are_sorted_by_key) {
    const auto entries = rules::attribute_entries(R"({"b":[true,"import",5],"a":["x","api",6]})");
    BOOST_TEST_REQUIRE(entries.size() == 2U);
    BOOST_TEST(entries[0].key == "a");
    BOOST_TEST(entries[0].value == "\"x\"");
    BOOST_TEST(entries[0].provenance == rules::Provenance::Api);
    BOOST_TEST(entries[1].updated_at.milliseconds() == 5);
}

BOOST_AUTO_TEST_CASE(clearing_requires_only_a_known_key) {
    const rules::AttributeRegistry registry(
        {{"on", "On", rules::AttributeType::Number, {}, true},
         {"off", "Off", rules::AttributeType::Number, {}, false}});
    const auto faults = rules::validate_changes(registry, R"({"on":null,"off":null,"no":null})");
    BOOST_TEST_REQUIRE(faults.size() == 2U);
    BOOST_TEST(faults[0].key == "off");
    BOOST_TEST(faults[1].result == rules::AttributeResult::UnknownKey);
    BOOST_TEST(rules::validate_changes(registry, R"({"on":"x"})").size() == 1U);
    BOOST_TEST(rules::validate_all_attributes(registry, R"({"on":null})").size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_lacking_part_of_a_document_has_the_keys_that_another_lacks) {
    const std::string document = R"({"a":[1.5,"api",1],"b":["e","api",1],"c":[[],"api",1]})";
    const auto part = [&](std::string_view stored) {
        return rules::lacking_part(document, rules::lacking_keys(document, stored));
    };
    BOOST_TEST(part("{}") == document);
    BOOST_TEST(part(R"({"b":["x","import",2]})") == R"({"a":[1.5,"api",1],"c":[[],"api",1]})");
    BOOST_TEST(part(R"({"a":[1,"api",1],"c":[1,"api",1]})") == R"({"b":["e","api",1]})");
    BOOST_TEST(part(document) == "{}");
    BOOST_TEST(rules::lacking_part("{}", {}) == "{}");
    BOOST_CHECK_THROW((void)rules::lacking_part("broken", {false}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
