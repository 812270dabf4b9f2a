// http/schema.hpp: every fault of a body at once, each with its path; and the schema that is
// printed.
#include "http/schema.hpp"

#include "base/error.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace muster;

namespace {

struct Inner {
    std::string name;
    std::optional<bool> flag;
};
struct Outer {
    std::int64_t number = 0;
    std::vector<Inner> list;
    rules::MemberFields member;
};

constexpr auto kInner = http::object<Inner>(http::required("name", &Inner::name, http::Text{1, 5}),
                                            http::optional("flag", &Inner::flag, http::Boolean{}));
constexpr auto kOuter =
    http::object<Outer>(http::required("number", &Outer::number, http::Integer{1, 9}),
                        http::optional("list", &Outer::list, http::array_of(kInner, 0, 3)),
                        http::optional("member", &Outer::member, http::MemberPayload{}));

Outer decoded(const std::string& body) {
    const http::JsonBody json(body);
    return http::decode(kOuter, json.root(), *Date::parse("2026-11-21"));
}

// "path code" of each fault, in order.
std::vector<std::string> faults(const std::string& body) {
    std::vector<std::string> list;
    try {
        decoded(body);
    } catch (const Error& error) {
        BOOST_TEST((error.code() == ErrorCode::ValidationError));
        for (const auto& field : error.details()["fields"]) {
            list.push_back(field["path"].asString() + " " + field["code"].asString());
        }
    }
    return list;
}

using List = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(schema)

BOOST_AUTO_TEST_CASE(good_bodies_are_decoded_and_trimmed) {
    const auto outer =
        decoded(R"({"list":[{"name":" ab ","flag":false},{"name":"c","flag":null}],"number":9})");
    BOOST_TEST(outer.number == 9);
    BOOST_TEST_REQUIRE(outer.list.size() == 2);
    BOOST_TEST(outer.list[0].name == "ab");
    BOOST_TEST((outer.list[0].flag == std::optional(false)));
    BOOST_TEST(!outer.list[1].flag.has_value());
}

BOOST_AUTO_TEST_CASE(every_fault_is_named_at_once) {
    const List expected = {"number out_of_range",       "list[0].name too_long",
                           "list[1].flag wrong_type",   "list[1].name required",
                           "list[2] wrong_type",        "member.email invalid_email",
                           "member.nick unknown_field", "extra unknown_field"};
    BOOST_TEST((faults(R"({"number":10,"list":[{"name":"abcdef"},{"flag":1},7],
                           "member":{"email":"a b","nick":1},"extra":{}})") == expected));
}

BOOST_AUTO_TEST_CASE(each_type_refuses_the_others) {
    BOOST_TEST((faults(R"({"number":"1"})") == List{"number wrong_type"}));
    BOOST_TEST((faults(R"({"number":1.5})") == List{"number wrong_type"}));
    BOOST_TEST((faults(R"({"number":18446744073709551615})") == List{"number out_of_range"}));
    BOOST_TEST((faults(R"({"number":null})") == List{"number required"}));
    BOOST_TEST((faults(R"({"number":1,"list":{}})") == List{"list wrong_type"}));
    BOOST_TEST((faults(R"({"number":1,"list":[1,2,3,4]})") == List{"list too_long"}));
    BOOST_TEST((faults(R"({"number":1,"list":[{"name":"  "}]})") == List{"list[0].name required"}));
    BOOST_TEST((faults(R"({"number":1,"list":[{"name":"a\u0007"}]})") ==
                List{"list[0].name invalid_value"}));
    BOOST_TEST((faults("[]") == List{" wrong_type"}));
}

BOOST_AUTO_TEST_CASE(a_hundred_faults_are_named_and_the_rest_is_told_of) {
    std::string body = "{\"number\":1";
    for (int i = 0; i < 150; ++i) body += ",\"x" + std::to_string(i) + "\":1";
    try {
        decoded(body + "}");
        BOOST_FAIL("taken");
    } catch (const Error& error) {
        BOOST_TEST(error.details()["fields"].size() == 100);
        BOOST_TEST(error.details()["truncated"].asBool());
    }
}

BOOST_AUTO_TEST_CASE(a_hostile_key_is_shown_short_and_whole) {
    std::string key;
    for (int i = 0; i < 100; ++i) key += "\u00e4";
    const auto list = faults("{\"number\":1,\"" + key + "\":1}");
    BOOST_TEST_REQUIRE(list.size() == 1);
    BOOST_TEST(list[0].size() < 90);
}

BOOST_AUTO_TEST_CASE(a_members_payload_is_normalised) {
    const auto outer =
        decoded(R"({"number":1,"member":{"email":" A@X.Org ","country":"de","locale":"",
        "attributes":{"a":1.50,"b":"","c":null,"d":["x",true]}}})");
    BOOST_TEST(outer.member.email == "a@x.org");
    BOOST_TEST(outer.member.country == "DE");
    BOOST_TEST(outer.member.locale == "");
    BOOST_TEST(outer.member.attributes == R"({"a":1.5,"d":["x",true]})");
}

BOOST_AUTO_TEST_CASE(attributes_are_flat_and_bounded) {
    const auto with = [](const std::string& attributes) {
        return faults(
            "{\"number\":1,\"member\":{\"email\":\"a@x.org\",\"attributes\":" + attributes + "}}");
    };
    BOOST_TEST((with("[]") == List{"member.attributes wrong_type"}));
    BOOST_TEST((with(R"({"a":{"b":1}})") == List{"member.attributes.a wrong_type"}));
    BOOST_TEST((with(R"({"a":[[1]]})") == List{"member.attributes.a wrong_type"}));
    BOOST_TEST((with("{\"a\":\"" + std::string(4095, 'x') + "\"}") ==
                List{"member.attributes.a too_long"}));
    BOOST_TEST((with("{\"a\":\"" + std::string(4094, 'x') + "\"}") == List{}));
    std::string many = "{\"k0\":1";
    for (int i = 1; i < 100; ++i) many += ",\"k" + std::to_string(i) + "\":1";
    BOOST_TEST((with(many + "}") == List{}));
    BOOST_TEST((with(many + ",\"k100\":1}") == List{"member.attributes too_long"}));
}

BOOST_AUTO_TEST_CASE(the_printed_schema_says_what_is_taken) {
    const Json::Value schema = kOuter.schema();
    BOOST_TEST(schema["additionalProperties"].asBool() == false);
    BOOST_TEST(schema["required"].size() == 1);
    BOOST_TEST(schema["required"][0].asString() == "number");
    BOOST_TEST(schema["properties"]["number"]["minimum"].asInt() == 1);
    BOOST_TEST(schema["properties"]["number"]["maximum"].asInt() == 9);
    const Json::Value& inner = schema["properties"]["list"]["items"];
    BOOST_TEST(inner["properties"]["name"]["maxLength"].asInt() == 5);
    BOOST_TEST(inner["properties"]["flag"]["type"][0].asString() == "boolean");
    BOOST_TEST(inner["properties"]["flag"]["type"][1].asString() == "null");
}

BOOST_AUTO_TEST_SUITE_END()
