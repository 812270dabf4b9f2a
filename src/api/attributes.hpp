// The attribute types as replies and bodies name them, for the groups that show them.
#pragma once

#include "base/record.hpp"
#include "rules/attributes.hpp"

namespace muster {

template <>
inline constexpr std::array enum_values<rules::AttributeType> = {
    rules::AttributeType::Text,         rules::AttributeType::Number,
    rules::AttributeType::Date,         rules::AttributeType::Boolean,
    rules::AttributeType::SingleChoice, rules::AttributeType::MultiChoice};

}  // namespace muster
