// rules/imports/mapping.hpp: every fault of a mapping with its exact path.
#include "rules/imports/mapping.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"

#include "print.hpp"

#include <string>
#include <vector>

using muster::Faults;
using muster::rules::AttributeRegistry;
using muster::rules::AttributeType;
using muster::rules::check_mapping;
using muster::rules::Mapping;
using muster::rules::MappingColumn;
using muster::rules::MappingTarget;

namespace {

const MappingColumn kEmail = {"E-Mail", "core_field", "email", ""};

// "path code; path code"
std::string faults_of(std::vector<MappingColumn> columns) {
    static const AttributeRegistry registry({
        {"phone", "Phone", AttributeType::Text, {}, true},
        {"shirt_size", "Shirt", AttributeType::SingleChoice, {"S", "M"}, true},
        {"gender", "Gender", AttributeType::SingleChoice, {}, false},
    });
    Faults faults;
    check_mapping(Mapping{std::move(columns)}, registry, faults);
    std::string text;
    for (const auto& fault : faults.list()) {
        if (!text.empty()) text += "; ";
        text += fault.path + ' ' + std::string(field_code_text(fault.code));
    }
    return text;
}

// With the email routed in column 0, so that the tested column is column 1.
std::string faults_with_email(const MappingColumn& column) {
    return faults_of({kEmail, column});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mapping)

BOOST_AUTO_TEST_CASE(targets_have_their_contract_names) {
    BOOST_TEST(text_of(MappingTarget::CoreField) == "core_field");
    BOOST_TEST(text_of(MappingTarget::Attribute) == "attribute");
    BOOST_TEST(text_of(MappingTarget::Ignored) == "ignored");
    BOOST_TEST(muster::parse<MappingTarget>("core_field") == MappingTarget::CoreField);
    BOOST_TEST(muster::parse<MappingTarget>("attribute") == MappingTarget::Attribute);
    BOOST_TEST(muster::parse<MappingTarget>("ignored") == MappingTarget::Ignored);
    for (const std::string_view text : {"", "Ignored", "core", "coreField", "ignored ", "skip"}) {
        BOOST_TEST(!muster::parse<MappingTarget>(text).has_value(), text);
    }
}

BOOST_AUTO_TEST_CASE(a_valid_mapping_has_no_faults) {
    BOOST_TEST(faults_of({kEmail}) == "");
    BOOST_TEST(faults_of({{"Phone", "attribute", "", "phone"},
                          {"Size", "attribute", "", "shirt_size"},
                          {"Notes", "ignored", "", ""},
                          kEmail}) == "");
}

BOOST_AUTO_TEST_CASE(every_core_field_is_a_valid_target) {
    std::vector<MappingColumn> columns;
    for (const auto& entry : muster::rules::kCoreFields) {
        columns.push_back(
            {"Column " + std::string(entry.name), "core_field", std::string(entry.name), ""});
    }
    BOOST_TEST(faults_of(columns) == "");
}

BOOST_AUTO_TEST_CASE(a_target_is_one_of_three) {
    for (const char* target : {"Ignored", "coreField", "user", "core_field "}) {
        BOOST_TEST(faults_with_email({"X", target, "", ""}) ==
                   "mapping.columns[1].target invalid_choice");
        BOOST_TEST(faults_with_email({"X", target, "nope", "nope"}) ==
                   "mapping.columns[1].target invalid_choice");
    }
    BOOST_TEST(faults_with_email({"X", "", "", ""}) == "mapping.columns[1].target required");
}

BOOST_AUTO_TEST_CASE(a_column_has_a_name_of_up_to_255_characters) {
    const auto faults_of_name = [](const std::string& name) {
        return faults_with_email({name, "ignored", "", ""});
    };
    BOOST_TEST(faults_of_name("") == "mapping.columns[1].sourceColumn required");
    BOOST_TEST(faults_of_name("x") == "");
    BOOST_TEST(faults_of_name("\u00fc" + std::string(254, 'x')) == "");
    BOOST_TEST(faults_of_name(std::string(256, 'x')) == "mapping.columns[1].sourceColumn too_long");
    BOOST_TEST(faults_of_name("a\nb") == "mapping.columns[1].sourceColumn invalid_value");
    BOOST_TEST(faults_of({{"", "", "", ""}, {"", "ignored", "", ""}, kEmail}) ==
               "mapping.columns[0].sourceColumn required; mapping.columns[0].target required; "
               "mapping.columns[1].sourceColumn required");
}

BOOST_AUTO_TEST_CASE(a_core_field_column_names_only_a_core_field) {
    BOOST_TEST(faults_with_email({"X", "core_field", "", ""}) ==
               "mapping.columns[1].fieldKey required");
    for (const char* key : {"Email", "attributes", "externalId", "phone", "email "}) {
        BOOST_TEST(faults_with_email({"X", "core_field", key, ""}) ==
                   "mapping.columns[1].fieldKey invalid_choice");
    }
    BOOST_TEST(faults_with_email({"X", "core_field", "locale", "phone"}) ==
               "mapping.columns[1].attributeKey unknown_field");
    BOOST_TEST(faults_with_email({"X", "core_field", "", "phone"}) ==
               "mapping.columns[1].fieldKey required; "
               "mapping.columns[1].attributeKey unknown_field");
}

BOOST_AUTO_TEST_CASE(an_attribute_column_names_only_an_enabled_attribute) {
    BOOST_TEST(faults_with_email({"X", "attribute", "", ""}) ==
               "mapping.columns[1].attributeKey required");
    for (const char* key : {"gender", "unheard_of", "Phone", "email"}) {
        BOOST_TEST(faults_with_email({"X", "attribute", "", key}) ==
                   "mapping.columns[1].attributeKey unknown_attribute");
    }
    BOOST_TEST(faults_with_email({"X", "attribute", "locale", "phone"}) ==
               "mapping.columns[1].fieldKey unknown_field");
    BOOST_TEST(faults_with_email({"X", "attribute", "locale", ""}) ==
               "mapping.columns[1].fieldKey unknown_field; "
               "mapping.columns[1].attributeKey required");
}

BOOST_AUTO_TEST_CASE(an_ignored_column_names_no_field) {
    BOOST_TEST(faults_with_email({"X", "ignored", "locale", ""}) ==
               "mapping.columns[1].fieldKey unknown_field");
    BOOST_TEST(faults_with_email({"X", "ignored", "", "phone"}) ==
               "mapping.columns[1].attributeKey unknown_field");
    BOOST_TEST(faults_with_email({"X", "ignored", "locale", "phone"}) ==
               "mapping.columns[1].fieldKey unknown_field; "
               "mapping.columns[1].attributeKey unknown_field");
}

BOOST_AUTO_TEST_CASE(a_column_is_mapped_once) {
    BOOST_TEST(faults_with_email({"E-Mail", "ignored", "", ""}) ==
               "mapping.columns[1].sourceColumn duplicate");
    BOOST_TEST(faults_of({kEmail,
                          {"X", "ignored", "", ""},
                          {"X", "attribute", "", "phone"},
                          {"X", "nonsense", "", ""}}) ==
               "mapping.columns[2].sourceColumn duplicate; "
               "mapping.columns[3].sourceColumn duplicate; "
               "mapping.columns[3].target invalid_choice");
    BOOST_TEST(faults_with_email({"e-mail", "ignored", "", ""}) == "");
}

BOOST_AUTO_TEST_CASE(one_column_fills_each_core_field_and_attribute) {
    BOOST_TEST(faults_with_email({"Second", "core_field", "email", ""}) ==
               "mapping.columns[1].fieldKey duplicate");
    BOOST_TEST(faults_of({kEmail,
                          {"A", "attribute", "", "phone"},
                          {"B", "attribute", "", "phone"},
                          {"C", "attribute", "", "phone"}}) ==
               "mapping.columns[2].attributeKey duplicate; "
               "mapping.columns[3].attributeKey duplicate");
}

BOOST_AUTO_TEST_CASE(one_column_is_the_email) {
    BOOST_TEST(faults_of(std::vector<MappingColumn>{}) == "mapping.columns required");
    BOOST_TEST(faults_of(std::vector<MappingColumn>{{"X", "core_field", "locale", ""}}) ==
               "mapping.columns required");
    BOOST_TEST(faults_of(std::vector<MappingColumn>{{"X", "ignored", "email", ""}}) ==
               "mapping.columns[0].fieldKey unknown_field; mapping.columns required");
    BOOST_TEST(faults_of(std::vector<MappingColumn>{{"X", "attribute", "", "email"}}) ==
               "mapping.columns[0].attributeKey unknown_attribute; mapping.columns required");
}

BOOST_AUTO_TEST_CASE(the_fault_of_a_missing_email_says_what_to_map) {
    Mapping mapping;
    mapping.columns.push_back({"X", "ignored", "", ""});
    Faults faults;
    check_mapping(mapping, AttributeRegistry(), faults);
    BOOST_TEST_REQUIRE(faults.list().size() == 1U);
    BOOST_TEST(faults.list().front().message ==
               "has no column for email; map one to fieldKey email");
}

BOOST_AUTO_TEST_CASE(all_faults_are_reported_at_once_up_to_the_limit) {
    BOOST_TEST(faults_of({{"A", "nope", "", ""},
                          {"B", "core_field", "x", ""},
                          kEmail,
                          {"C", "attribute", "", "x"}}) ==
               "mapping.columns[0].target invalid_choice; "
               "mapping.columns[1].fieldKey invalid_choice; "
               "mapping.columns[3].attributeKey unknown_attribute");

    Mapping bad;
    for (int i = 0; i < 500; ++i) bad.columns.push_back({std::to_string(i), "nope", "", ""});
    Faults faults;
    check_mapping(bad, AttributeRegistry(), faults);
    BOOST_TEST(faults.list().size() == Faults::kMost);
    BOOST_TEST(faults.truncated());
}

BOOST_AUTO_TEST_SUITE_END()
