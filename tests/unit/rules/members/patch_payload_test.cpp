// rules/members/payload.hpp, MemberPatchPayload: what a PATCH may contain, and every fault of it.
#include "rules/members/payload.hpp"

#include "unit/json/decoding.hpp"

#include "print.hpp"

using namespace muster;
using muster::test::Texts;

namespace {

rules::MemberPatch read(std::string_view text) {
    return test::decoded(rules::MemberPatchPayload{}, text);
}

Texts patch_faults(std::string_view text) {
    return test::faults(rules::MemberPatchPayload{}, text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(member_patch)

BOOST_AUTO_TEST_CASE(absent_fields_are_kept_and_null_or_empty_fields_are_cleared) {
    const auto patch =
        read(R"({"external_id":" E ","first_name":null,"last_name":"  ","country":"gb"})");
    BOOST_TEST(patch.texts[0] == "E");
    BOOST_TEST(patch.texts[1] == "");
    BOOST_TEST(patch.texts[2] == "");
    BOOST_TEST(!patch.texts[3].has_value());
    BOOST_TEST(patch.texts[5] == "GB");
    BOOST_TEST(patch.attributes.empty());
    BOOST_TEST((read("{}") == rules::MemberPatch{}));
}

BOOST_AUTO_TEST_CASE(attributes_keep_null_to_clear_a_key) {
    BOOST_TEST(read(R"({"attributes":{"a":null,"b":"","c":" ","d":[1,"x"]}})").attributes ==
               R"({"a":null,"b":null,"c":null,"d":[1,"x"]})");
    BOOST_TEST(read(R"({"attributes":{}})").attributes.empty());
}

BOOST_AUTO_TEST_CASE(every_fault_is_reported_at_once) {
    BOOST_TEST(
        patch_faults(R"({"email":"x@y.zz","dob":"x","no":1,"locale":5,"attributes":null})") ==
        (Texts{"email unknown_field", "dob invalid_date", "no unknown_field", "locale wrong_type",
               "attributes required"}));
    BOOST_TEST(patch_faults(R"({"attributes":[]})") == Texts{"attributes wrong_type"});
    BOOST_TEST(patch_faults("[]") == Texts{" wrong_type"});
    BOOST_TEST(
        patch_faults(R"({"attributes":{"a":{"b":1},")" + std::string(65, 'k') + R"(":null}})") ==
        (Texts{"attributes.a wrong_type", "attributes." + std::string(64, 'k') + " too_long"}));
}

BOOST_AUTO_TEST_CASE(the_schema_matches_the_validation) {
    const Json::Value schema = rules::MemberPatchPayload{}.schema();
    BOOST_TEST(!schema.isMember("required"));
    BOOST_TEST(!schema["properties"].isMember("email"));
    BOOST_TEST(schema["properties"].size() == 8U);
    BOOST_TEST(schema["properties"]["attributes"]["type"].asString() == "object");
}

BOOST_AUTO_TEST_SUITE_END()
