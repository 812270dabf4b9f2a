// rules/members/filter.hpp: conditions on attributes, from texts of a query.
#include "rules/members/filter.hpp"

#include "base/faults.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_field_checks.hpp"

#include "print.hpp"

using namespace muster;
using rules::AttributeCondition;
using rules::AttributeType;

namespace {

const rules::AttributeRegistry kRegistry(
    {{"name", "Name", AttributeType::Text, {}, true},
     {"points", "Points", AttributeType::Number, {}, false},
     {"born", "Born", AttributeType::Date, {}, true},
     {"vip", "VIP", AttributeType::Boolean, {}, true},
     {"size", "Size", AttributeType::SingleChoice, {"M", "\u00e9"}, true},
     {"a.b", "Likes", AttributeType::MultiChoice, {"x"}, true}});

using ConditionTexts = std::map<std::string, std::string>;

// "path: code, …" of the faults, or "".
std::string condition_faults(const ConditionTexts& texts) {
    Faults faults;
    (void)rules::attribute_conditions(kRegistry, texts, "attribute.", faults);
    std::string found;
    for (const Fault& fault : faults.list()) {
        found += fault.path + ": " + std::string(field_code_text(fault.code)) + ", ";
    }
    return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(member_filter)

BOOST_AUTO_TEST_CASE(a_text_becomes_a_value_of_the_attribute_s_type) {
    Faults faults;
    const auto found = rules::attribute_conditions(kRegistry,
                                                   {{"name", " a \"b\" "},
                                                    {"points", " -2.50"},
                                                    {"vip", "true"},
                                                    {"size", "M "},
                                                    {"a.b", "x"}},
                                                   "attribute.", faults);
    BOOST_TEST(faults.empty());
    const std::vector<AttributeCondition> expected = {{"a.b", "\"x\""},
                                                      {"name", R"("a \"b\"")"},
                                                      {"points", "-2.5"},
                                                      {"size", "\"M\""},
                                                      {"vip", "true"}};
    BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(texts_and_choices_are_composed_as_those_of_members_are) {
    Faults faults;
    const auto found = rules::attribute_conditions(
        kRegistry, {{"name", "Be\u0301rn"}, {"size", "e\u0301"}}, "attribute.", faults);
    BOOST_TEST(faults.empty());
    const std::vector<AttributeCondition> expected = {{"name", "\"B\u00e9rn\""},
                                                      {"size", "\"\u00e9\""}};
    BOOST_TEST((found == expected));
}

BOOST_AUTO_TEST_CASE(an_unknown_key_and_a_value_of_another_type_are_faults) {
    BOOST_TEST(condition_faults({{"name", " "}}) == "attribute.name: required, ");
    BOOST_TEST(condition_faults({{"a.b", ""}}) == "attribute.a.b: required, ");
    BOOST_TEST(condition_faults({{"none", "x"}}) == "attribute.none: unknown_attribute, ");
    for (const auto& [key, text] :
         ConditionTexts{{"points", "two"}, {"born", "2026-02-30"}, {"vip", "1"}, {"size", "L"}}) {
        BOOST_TEST(condition_faults({{key, text}}) == "attribute." + key + ": invalid_value, ");
    }
    for (const char* number : {"1 OR 1", "[1]", "\"1\"", "NaN", "1]"}) {
        BOOST_TEST(condition_faults({{"points", number}}) == "attribute.points: invalid_value, ",
                   number);
    }
}

BOOST_AUTO_TEST_CASE(the_number_of_attributes_is_bounded) {
    const ConditionTexts six = {{"name", "x"},   {"points", "1"}, {"born", "2026-01-01"},
                                {"vip", "true"}, {"size", "M"},   {"a.b", "x"}};
    BOOST_TEST(condition_faults(six) == "attribute: too_long, ");
}

BOOST_AUTO_TEST_CASE(a_country_is_two_capital_letters) {
    std::string country = " de";
    BOOST_TEST(!rules::normalize_country(country).has_value());
    BOOST_TEST(country == "DE");
    for (std::string wrong : {"", " ", "USA", "XX", "D"}) {
        BOOST_TEST((rules::normalize_country(wrong) == FieldCode::InvalidCountry), wrong);
    }
}

BOOST_AUTO_TEST_SUITE_END()
