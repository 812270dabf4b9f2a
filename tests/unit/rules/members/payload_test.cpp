// rules/members/payload.hpp, MemberPayload: what a new member may contain, every fault of it, and
// its printed schema.
#include "rules/members/payload.hpp"

#include "base/json.hpp"
#include "rules/members/core_fields.hpp"
#include "unit/json/decoding.hpp"
#include "unit/json/json_schema.hpp"

#include "print.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace muster;
using muster::rules::kCoreFields;
using muster::test::decoded;
using muster::test::faults;
using muster::test::Texts;

namespace {

constexpr rules::MemberPayload kPayload;

Texts payload(const std::string& members) {
    return faults(kPayload,
                  "{\"email\":\"a@x.test\"" + (members.empty() ? "" : "," + members) + "}");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(member_payload)

BOOST_AUTO_TEST_CASE(a_payload_is_normalized) {
    const auto fields = decoded(
        kPayload,
        R"({"email":" Ann.LEE@Example.TEST ","external_id":" 7 ","first_name":"","country":"gb",)"
        R"("dob":"1990-01-31","locale":null,)"
        R"("attributes":{"phone":" 1 ","n":1.50,"b":true,"m":[" x",1,false],"none":null,"empty":"","blank":" \n"}})");
    BOOST_TEST(fields.email == "ann.lee@example.test");
    BOOST_TEST(fields.external_id == "7");
    BOOST_TEST(fields.first_name == "");
    BOOST_TEST(fields.country == "GB");
    BOOST_TEST(fields.dob == "1990-01-31");
    BOOST_TEST(fields.locale == "");
    BOOST_TEST(fields.attributes == R"({"phone":"1","n":1.5,"b":true,"m":["x",1,false]})");
}

BOOST_AUTO_TEST_CASE(accents_of_names_are_composed) {
    const auto fields = decoded(
        kPayload,
        "{\"email\":\"a@x.test\",\"first_name\":\"Zoe\u0308\",\"last_name\":\"Be\u0301rg\","
        "\"display_name\":\"Zo\u00eb B.\",\"external_id\":\"e\u0301\",\"locale\":\"e\u0301\"}");
    BOOST_TEST(fields.first_name == "Zo\u00eb");
    BOOST_TEST(fields.last_name == "B\u00e9rg");
    BOOST_TEST(fields.display_name == "Zo\u00eb B.");
    BOOST_TEST(fields.external_id == "e\u0301");
    BOOST_TEST(fields.locale == "e\u0301");
    const auto named = [](std::size_t count, std::string_view letter) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) text += letter;
        return payload("\"last_name\":\"" + text + "\"");
    };
    BOOST_TEST(named(255, "e\u0301") == Texts());
    BOOST_TEST(named(256, "e\u0301") == Texts{"last_name too_long"});
    BOOST_TEST(named(128, "\u0958") == Texts{"last_name too_long"});  // two characters in this form
}

BOOST_AUTO_TEST_CASE(texts_of_attributes_are_composed) {
    const auto fields =
        decoded(kPayload,
                "{\"email\":\"a@x.test\",\"attributes\":{\"city\":\" Be\u0301rn\\n1\","
                "\"likes\":[\"e\u0301\",\"\\u0065\\u0301\",1],\"e\u0301\":\"\ufa19\"}}");
    BOOST_TEST(fields.attributes ==
               "{\"city\":\"B\u00e9rn\\n1\",\"likes\":[\"\u00e9\",\"\u00e9\",1],"
               "\"e\u0301\":\"\ufa19\"}");
    const auto with_city = [](std::string_view letter, std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) text += letter;
        return payload("\"attributes\":{\"city\":\"" + text + "\"}");
    };
    // The composed text counts: 3 bytes become 2, or 6.
    BOOST_TEST(with_city("\u0958", 682) == Texts());
    BOOST_TEST(with_city("\u0958", 683) == Texts{"attributes.city too_long"});
    BOOST_TEST(with_city("e\u0301", 768) == Texts());
}

BOOST_AUTO_TEST_CASE(a_payload_reports_every_fault) {
    const std::string long_text(256, 'x');
    const std::vector<std::pair<std::string, Texts>> table = {
        {R"("nickname":"x")", {"nickname unknown_field"}},
        {R"("first_name":1)", {"first_name wrong_type"}},
        {"\"first_name\":\"" + long_text + "\"", {"first_name too_long"}},
        {R"("country":"UK")", {"country invalid_country"}},
        {R"("dob":"2023-02-29")", {"dob invalid_date"}},
        {R"("dob":"2026-11-20")", {"dob invalid_date"}},
        {R"("attributes":[])", {"attributes wrong_type"}},
        {R"("attributes":"{}")", {"attributes wrong_type"}},
        {R"("attributes":{"a":{}})", {"attributes.a wrong_type"}},
        {R"("attributes":{"a":[[1]],"b":[null],"c":1})",
         {"attributes.a wrong_type", "attributes.b wrong_type"}},
        {"\"attributes\":{\"" + std::string(65, 'k') + "\":1}",
         {"attributes." + std::string(64, 'k') + " too_long"}},
        {"\"attributes\":{\"a\":\"" + std::string(4095, 'x') + "\"}", {"attributes.a too_long"}},
        {R"("country":"x","dob":"y","x":1)",
         {"country invalid_country", "dob invalid_date", "x unknown_field"}},
    };
    for (const auto& [members, expected] : table) BOOST_TEST(payload(members) == expected, members);
    BOOST_TEST(payload("\"attributes\":{\"a\":\"" + std::string(4094, 'x') + "\"}") == Texts());
    BOOST_TEST(payload(R"("attributes":{"a\"b":"\u0000"})") == Texts());
    for (const std::string body :
         {R"({})", R"({"email":null})", R"({"email":""})", R"({"email":" "})"}) {
        BOOST_TEST(faults(kPayload, body) == Texts{"email required"}, body);
    }
    BOOST_TEST(faults(kPayload, R"({"email":"a b@x"})") == Texts{"email invalid_email"});
    BOOST_TEST(faults(kPayload, R"({"email":5})") == Texts{"email wrong_type"});
    BOOST_TEST(faults(kPayload, "[]") == Texts{" wrong_type"});
}

BOOST_AUTO_TEST_CASE(a_hundred_attributes_are_accepted_and_101_are_not) {
    const auto attributes = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
        return "\"attributes\":{" + text + "}";
    };
    BOOST_TEST(payload(attributes(100)) == Texts());
    BOOST_TEST(payload(attributes(101)) == Texts{"attributes too_long"});
}

BOOST_AUTO_TEST_CASE(the_schema_of_the_payload_allows_every_accepted_payload) {
    const Json::Value schema = kPayload.schema();
    const test::SchemaCheck check;
    const Texts values = {"null",
                          "\"\"",
                          "\"a\"",
                          "\"GB\"",
                          "\"1990-01-31\"",
                          "1",
                          "{}",
                          "[]",
                          "{\"phone\":\"1\"}",
                          "{\"a\":{}}",
                          "\"" + std::string(36, 'x') + "\"",
                          "\"" + std::string(256, 'x') + "\""};
    for (const auto& entry : kCoreFields) {
        for (const std::string& value : values) {
            std::string text = "{\"" + std::string(entry.name) + "\":" + value;
            text += entry.name == "email" ? "}" : ",\"email\":\"a@x.test\"}";
            Json::Value parsed;
            BOOST_TEST_REQUIRE(parse_json(text, parsed));
            if (faults(kPayload, text).empty()) BOOST_TEST(check.allows(schema, parsed), text);
        }
    }
    for (const std::string& value : values) {
        const std::string text = "{\"email\":\"a@x.test\",\"attributes\":" + value + "}";
        Json::Value parsed;
        BOOST_TEST_REQUIRE(parse_json(text, parsed));
        if (faults(kPayload, text).empty()) BOOST_TEST(check.allows(schema, parsed), text);
    }
    BOOST_TEST(!check.allows(schema, Json::Value(Json::objectValue)));
    Json::Value empty;
    empty["email"] = "";
    BOOST_TEST(!check.allows(schema, empty));
}

BOOST_AUTO_TEST_SUITE_END()
