// The mapping of an import (specification 2.4): how the client maps the columns of its file.
#pragma once

#include "base/faults.hpp"
#include "base/names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

class AttributeRegistry;

using muster::text_of;

enum class MappingTarget : std::uint8_t { CoreField, Attribute, Ignored };

struct MappingColumn {
    // As sent; checked by check_mapping().
    std::string source_column;  // "" = absent
    std::string target;         // "" = absent
    std::string field_key;      // "" = absent
    std::string attribute_key;  // "" = absent
};

struct Mapping {
    std::vector<MappingColumn> columns;
};

// Adds the faults of IMPORT_MAPPING_INVALID, with paths "mapping.columns[i].…":
// * any column: no sourceColumn (required), one of more than 255 characters (too_long) or with a
//   control character (invalid_value), a repeated one (duplicate), no target (required), an unknown
//   one (invalid_choice);
// * core_field: no fieldKey (required), an unknown one (invalid_choice), a repeated one
//   (duplicate), an attributeKey (unknown_field);
// * attribute: no attributeKey (required), one that is not enabled (unknown_attribute), a
//   repeated one (duplicate), a fieldKey (unknown_field);
// * ignored: a fieldKey or an attributeKey (unknown_field);
// * no column is mapped to email: required at "mapping.columns".
void check_mapping(const Mapping& mapping, const AttributeRegistry& registry, Faults& faults);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MappingTarget> = {
    Name{rules::MappingTarget::CoreField, "core_field"},
    Name{rules::MappingTarget::Attribute, "attribute"},
    Name{rules::MappingTarget::Ignored, "ignored"}};

}  // namespace muster
