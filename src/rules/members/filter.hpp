// Conditions on the attributes of members, for lists and member jobs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
class Faults;
}

namespace muster::json {
class JsonIn;
}

namespace muster::rules {

class AttributeRegistry;

// The attribute has this value, which is JSON text. A list of choices contains it.
struct AttributeCondition {
    std::string key;
    std::string value;

    bool operator==(const AttributeCondition&) const = default;
};

inline constexpr std::size_t kMostAttributeConditions = 5;

// Whether a JSON value can be the value of a condition: a string, a number or a boolean.
[[nodiscard]] bool is_condition_value(const json::JsonIn& value);

// The conditions for texts by key, as a query has them: 2.5, true, 2026-01-31. Disabled attributes
// are known too. Adds a fault for each key that is unknown and each value that its type does not
// have, with `path` before the key.
[[nodiscard]] std::vector<AttributeCondition> attribute_conditions(
    const AttributeRegistry& registry, const std::map<std::string, std::string>& texts,
    std::string_view path, Faults& faults);

}  // namespace muster::rules
