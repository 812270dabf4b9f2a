#include "rules/members/filter.hpp"

#include "base/faults.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "json/json_body.hpp"
#include "rules/attributes.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

const Attribute* find_attribute(const AttributeRegistry& registry, std::string_view key) {
    const auto& all = registry.all();
    const auto found = std::ranges::find(all, key, &Attribute::key);
    return found == all.end() ? nullptr : &*found;
}

// The number without white space, as the parser writes it; nullopt if the text is not one.
std::optional<std::string> number_text(const std::string& text) {
    json::JsonParser parser;
    const auto number = parser.parse(text);
    return number && number->is_number() ? std::optional(json::minified(*number)) : std::nullopt;
}

std::string quoted(const std::string& text) {
    std::string json;
    JsonWriter(json).string(text);
    return json;
}

// The value as JSON; nullopt if the attribute cannot have it.
std::optional<std::string> value_json(const Attribute& attribute, const std::string& text) {
    const auto quoted_if = [&](bool is_value) {
        return is_value ? std::optional(quoted(text)) : std::nullopt;
    };
    switch (attribute.type) {
        case AttributeType::Text:
            return quoted(text);
        case AttributeType::Number:
            return number_text(text);
        case AttributeType::Date:
            return quoted_if(Date::parse(text).has_value());
        case AttributeType::Boolean:
            return text == "true" || text == "false" ? std::optional(text) : std::nullopt;
        case AttributeType::SingleChoice:
        case AttributeType::MultiChoice:
            return quoted_if(std::ranges::find(attribute.choices, text) != attribute.choices.end());
    }
    return std::nullopt;
}

}  // namespace

bool is_condition_value(const json::JsonIn& value) {
    return value.is_string() || value.is_boolean() || value.is_number();
}

std::vector<AttributeCondition> attribute_conditions(
    const AttributeRegistry& registry, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults) {
    std::vector<AttributeCondition> conditions;
    for (const auto& [key, sent] : texts) {
        std::string text(trimmed(sent));
        compose(text);
        const Attribute* attribute = find_attribute(registry, key);
        const std::string place = std::string(path) + key;
        if (!attribute) {
            faults.add(place, FieldCode::UnknownAttribute);
        } else if (text.empty()) {
            faults.add(place, FieldCode::Required);
        } else if (auto json = value_json(*attribute, text)) {
            conditions.push_back({key, std::move(*json)});
        } else {
            faults.add(place, FieldCode::InvalidValue, value_limits(*attribute));
        }
    }
    if (texts.size() > kMostAttributeConditions) {
        faults.add(std::string(path.substr(0, path.size() - 1)), FieldCode::TooLong,
                   longest(kMostAttributeConditions));
    }
    return conditions;
}

}  // namespace muster::rules
