// The mapping of an import (specification 2.4): how the client routed its file's columns.
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
    std::string source_column;
    std::string target;         // as sent; judged by check_mapping
    std::string field_key;      // "" = absent
    std::string attribute_key;  // "" = absent
};

struct Mapping {
    std::vector<MappingColumn> columns;
};

// IMPORT_MAPPING_INVALID's faults, paths "mapping.columns[i].…": a target that is none of the three
// (invalid_choice); core_field without a fieldKey (required) or with one that is no core field
// (invalid_choice), or with an attributeKey (unknown_field); attribute without an attributeKey
// (required), or with one that is not enabled (unknown_attribute), or with a fieldKey; ignored with
// either; a sourceColumn, core field or attribute used twice (duplicate); no column routed to email
// (required at "mapping.columns").
void check_mapping(const Mapping& mapping, const AttributeRegistry& registry, Faults& faults);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::MappingTarget> = {
    Name{rules::MappingTarget::CoreField, "core_field"},
    Name{rules::MappingTarget::Attribute, "attribute"},
    Name{rules::MappingTarget::Ignored, "ignored"}};

}  // namespace muster
