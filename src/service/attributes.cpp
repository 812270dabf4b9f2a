#include "service/attributes.hpp"

#include "base/text.hpp"
#include "db/transaction.hpp"
#include "service/audit.hpp"
#include "store/attributes.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace muster::service {
namespace {

using rules::Attribute;
using rules::AttributeType;

constexpr std::size_t kMostChoices = 500;
constexpr std::size_t kLongestChoice = 255;
constexpr std::size_t kLongestLabel = 255;

// Specification 2.2, with the choices of docs/api.md "Attributes".
const std::vector<Attribute>& starter_catalogue() {
    static const std::vector<Attribute> kCatalogue = {
        {"phone", "Phone", AttributeType::Text, {}, false},
        {"gender",
         "Gender",
         AttributeType::SingleChoice,
         {"female", "male", "non_binary", "undisclosed"},
         false},
        {"address.line1", "Address", AttributeType::Text, {}, false},
        {"address.city", "City", AttributeType::Text, {}, false},
        {"address.postcode", "Postcode", AttributeType::Text, {}, false},
        {"favourite_team", "Favourite team", AttributeType::Text, {}, false},
        {"shirt_size",
         "Shirt size",
         AttributeType::SingleChoice,
         {"XS", "S", "M", "L", "XL", "XXL", "XXXL"},
         false},
        {"emergency_contact", "Emergency contact", AttributeType::Text, {}, false},
    };
    return kCatalogue;
}

rules::AttributeRegistry registry_of(db::Tx& tx, OrgId organization) {
    db::OrgStore org(tx, organization);
    std::vector<Attribute> attributes;
    for (auto& record : store::list_attributes(org))
        attributes.push_back(std::move(record.attribute));
    return rules::AttributeRegistry(std::move(attributes));
}

bool has_choices(AttributeType type) {
    return type == AttributeType::SingleChoice || type == AttributeType::MultiChoice;
}

void check(const Attribute& attribute) {
    if (!rules::is_attribute_key(attribute.key)) {
        throw std::invalid_argument(
            "a key is lower-case letters, digits and _, in parts joined by dots");
    }
    if (has_choices(attribute.type) == attribute.choices.empty()) {
        throw std::invalid_argument(
            "single_choice and multi_choice need choices, other types have none");
    }
    if (attribute.label.empty() || !is_utf8(attribute.label) ||
        utf8_length(attribute.label) > kLongestLabel) {
        throw std::invalid_argument("a label has 1 to 255 characters");
    }
    const std::set<std::string> distinct(attribute.choices.begin(), attribute.choices.end());
    if (distinct.size() != attribute.choices.size() || attribute.choices.size() > kMostChoices) {
        throw std::invalid_argument("choices must be distinct, and at most 500");
    }
    for (const std::string& choice : attribute.choices) {
        if (choice.empty() || !is_utf8(choice) || utf8_length(choice) > kLongestChoice) {
            throw std::invalid_argument("a choice has 1 to 255 characters");
        }
    }
}

}  // namespace

rules::AttributeRegistry attribute_registry(db::Tx& tx, OrgId organization) {
    return registry_of(tx, organization);
}

rules::AttributeRegistry attribute_registry(Context& context, OrgId organization) {
    return context.database.read([&](db::Tx& tx) { return registry_of(tx, organization); });
}

void add_starter_attributes(Unit& unit) {
    db::OrgStore org(unit.tx, unit.org());
    for (const Attribute& attribute : starter_catalogue()) {
        store::insert_attribute(org, {AttributeId::create(), attribute, unit.now, unit.now});
    }
}

bool is_starter_attribute(std::string_view key) {
    return std::any_of(starter_catalogue().begin(), starter_catalogue().end(),
                       [&](const Attribute& attribute) { return attribute.key == key; });
}

std::vector<rules::AttributeRecord> list_attributes(Context& context, OrgId organization,
                                                    std::string_view after, int limit) {
    return context.database.read([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        return store::page_attributes(org, after, limit);
    });
}

void add_attribute(Context& context, OrgId organization, const Attribute& attribute) {
    check(attribute);
    context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        if (!store::insert_attribute(org, {AttributeId::create(), attribute, now, now})) {
            throw std::invalid_argument("the organization has an attribute of that key");
        }
        audit_operator(tx, organization, "attribute.added", attribute.key, {}, now);
    });
}

bool enable_attribute(Context& context, OrgId organization, std::string_view key, bool enabled) {
    return context.database.transaction([&](db::Tx& tx) {
        db::OrgStore org(tx, organization);
        const Timestamp now = Timestamp::now();
        const bool found = store::set_attribute_enabled(org, key, enabled, now);
        const char* action = enabled ? "attribute.enabled" : "attribute.disabled";
        if (found) audit_operator(tx, organization, action, key, {}, now);
        return found;
    });
}

}  // namespace muster::service
