// service/attributes.hpp: the registry of an organization as the operator keeps it.
#include "service/attributes.hpp"

#include "db/house.hpp"

#include <boost/test/unit_test.hpp>

using namespace muster;
using rules::AttributeType;
using test::House;

namespace {

struct Registry : House {
    std::vector<std::string> page(std::string_view after, int limit) {
        std::vector<std::string> keys;
        for (const auto& record : service::list_attributes(context, acme, after, limit)) {
            keys.push_back(record.attribute.key);
        }
        return keys;
    }
    OrgId acme = organization("Acme");
};

using Keys = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_attributes, Registry)

BOOST_AUTO_TEST_CASE(attributes_are_paged_by_key) {
    BOOST_TEST((page("", 3) == Keys{"address.city", "address.line1", "address.postcode"}));
    BOOST_TEST((page("address.postcode", 2) == Keys{"emergency_contact", "favourite_team"}));
    BOOST_TEST(page("zzz", 2).empty());
    BOOST_TEST(page("", 100).size() == 8);
}

BOOST_AUTO_TEST_CASE(an_attribute_is_read_as_it_was_added) {
    const std::vector<std::string> choices = {"news", "Zo\u00eb's \"own\"", "a,b", "\\"};
    service::add_attribute(
        context, acme,
        {"interests", "Interests \U0001f600", AttributeType::MultiChoice, choices, true});
    const auto registry = service::attribute_registry(context, acme);
    const auto* interests = registry.find("interests");
    BOOST_TEST_REQUIRE(interests != nullptr);
    BOOST_TEST(interests->label == "Interests \U0001f600");
    BOOST_TEST((interests->type == AttributeType::MultiChoice));
    BOOST_TEST((interests->choices == choices));
}

BOOST_AUTO_TEST_CASE(an_attribute_is_enabled_and_disabled_by_its_key) {
    const auto is_enabled = [&](std::string_view key) {
        return service::attribute_registry(context, acme).find(key) != nullptr;
    };
    BOOST_TEST(!is_enabled("phone"));
    BOOST_TEST(service::enable_attribute(context, acme, "phone", true));
    BOOST_TEST(is_enabled("phone"));
    BOOST_TEST(service::enable_attribute(context, acme, "phone", true));
    BOOST_TEST(service::enable_attribute(context, acme, "phone", false));
    BOOST_TEST(!is_enabled("phone"));
    BOOST_TEST(!service::enable_attribute(context, acme, "no.such", true));
}

BOOST_AUTO_TEST_CASE(an_attribute_that_cannot_be_is_refused) {
    const std::string long_choice(256, 'x');
    std::vector<std::string> many;
    for (int i = 0; i < 501; ++i) many.push_back(std::to_string(i));
    const std::vector<rules::Attribute> bad = {
        {"Bad Key", "L", AttributeType::Text, {}, true},
        {"", "L", AttributeType::Text, {}, true},
        {"phone", "L", AttributeType::Text, {}, true},  // there already
        {"a", "L", AttributeType::Text, {"x"}, true},
        {"a", "L", AttributeType::SingleChoice, {}, true},
        {"a", "L", AttributeType::MultiChoice, {"x", "x"}, true},
        {"a", "L", AttributeType::MultiChoice, {""}, true},
        {"a", "L", AttributeType::MultiChoice, {long_choice}, true},
        {"a", "L", AttributeType::MultiChoice, {"\xff"}, true},
        {"a", "L", AttributeType::MultiChoice, many, true},
    };
    for (const auto& attribute : bad) {
        BOOST_CHECK_THROW(service::add_attribute(context, acme, attribute), std::invalid_argument);
    }
    BOOST_TEST(page("", 100).size() == 8);
    many.pop_back();
    service::add_attribute(context, acme, {"a", "L", AttributeType::MultiChoice, many, true});
}

BOOST_AUTO_TEST_CASE(a_label_that_cannot_be_stored_is_told_as_a_mistake) {
    for (const std::string& label : {std::string(256, 'x'), std::string("\xff")}) {
        BOOST_CHECK_THROW(
            service::add_attribute(context, acme, {"a", label, AttributeType::Text, {}, true}),
            std::invalid_argument);
    }
}

BOOST_AUTO_TEST_SUITE_END()
