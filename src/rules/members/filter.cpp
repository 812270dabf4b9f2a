#include "rules/members/filter.hpp"

#include "base/faults.hpp"
#include "base/json.hpp"
#include "rules/attributes.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

const Attribute* find_attribute(const AttributeRegistry& registry, std::string_view key) {
    const auto& all = registry.all();
    const auto found = std::ranges::find(all, key, &Attribute::key);
    return found == all.end() ? nullptr : &*found;
}

bool is_number(const std::string& text) {
    Json::Value list;
    return parse_json("[" + text + "]", list) && list.size() == 1 && list[0].isNumeric();
}

bool is_value(const Attribute& attribute, const std::string& text) {
    switch (attribute.type) {
        case AttributeType::Text:
            return true;
        case AttributeType::Number:
            return is_number(text);
        case AttributeType::Date:
            return Date::parse(text).has_value();
        case AttributeType::Boolean:
            return text == "true" || text == "false";
        case AttributeType::SingleChoice:
        case AttributeType::MultiChoice:
            return std::ranges::find(attribute.choices, text) != attribute.choices.end();
    }
    return false;
}

std::string json_of(const Attribute& attribute, const std::string& text) {
    const bool is_bare =
        attribute.type == AttributeType::Number || attribute.type == AttributeType::Boolean;
    if (is_bare) return text;
    std::string json;
    JsonWriter(json).string(text);
    return json;
}

}  // namespace

std::vector<AttributeCondition> attribute_conditions(
    const AttributeRegistry& registry, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults) {
    std::vector<AttributeCondition> conditions;
    for (const auto& [key, text] : texts) {
        const Attribute* attribute = find_attribute(registry, key);
        const std::string place = std::string(path) + key;
        if (!attribute) {
            faults.add(place, FieldCode::UnknownAttribute);
        } else if (!is_value(*attribute, text)) {
            faults.add(place, FieldCode::InvalidValue, value_limits(*attribute));
        } else {
            conditions.push_back({key, json_of(*attribute, text)});
        }
    }
    if (texts.size() > kMostAttributeConditions) {
        faults.add(std::string(path.substr(0, path.size() - 1)), FieldCode::TooLong,
                   longest(kMostAttributeConditions));
    }
    return conditions;
}

}  // namespace muster::rules
