// rules/attributes.hpp: the cost of values with many choices.
#include "rules/attributes.hpp"

#include "print.hpp"
#include "processor_time.hpp"

#include <string>
#include <vector>

using namespace muster::rules;

BOOST_AUTO_TEST_SUITE(attribute_choices)

// A hundred attributes with five hundred choices each, and a value with all of them.
BOOST_AUTO_TEST_CASE(many_choices_take_bounded_processor_time) {
    std::vector<std::string> choices;
    std::string value;
    for (int i = 100; i < 600; ++i) {
        choices.push_back(std::to_string(i));
        value = "\"" + choices.back() + (value.empty() ? "\"" : "\",") + value;
    }
    std::vector<Attribute> attributes;
    std::string json;
    for (int i = 0; i < 100; ++i) {
        const std::string key = "a" + std::to_string(i);
        attributes.push_back({key, key, AttributeType::MultiChoice, choices, true});
        json.append(json.empty() ? "{\"" : ",\"").append(key).append("\":[" + value + "]");
    }
    json += "}";
    const AttributeRegistry known(attributes);
    constexpr int kTimes = 5;
    const double used = muster::test::processor_milliseconds([&] {
        for (int i = 0; i < kTimes; ++i) BOOST_TEST(validate_attributes(known, json).key == "");
    });
    BOOST_TEST(used / kTimes < muster::test::processor_limit() / 10);
}

BOOST_AUTO_TEST_CASE(a_repeated_or_unknown_choice_among_many_is_invalid) {
    std::vector<std::string> choices;
    std::string most;
    for (int i = 100; i < 600; ++i) {
        choices.push_back(std::to_string(i));
        if (i > 100) most.insert(0, "\"" + choices.back() + "\",");
    }
    const AttributeRegistry known({{"a", "A", AttributeType::MultiChoice, choices, true}});
    const auto fault = [&](const std::string& last) {
        return validate_attributes(known, "{\"a\":[" + most + "\"" + last + "\"]}").key;
    };
    BOOST_TEST(fault("100") == "");
    BOOST_TEST(fault("599") == "a");
    BOOST_TEST(fault("600") == "a");
}

BOOST_AUTO_TEST_SUITE_END()
