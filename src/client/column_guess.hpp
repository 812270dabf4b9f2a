// The target of each column of a file: guessed from its name (column_names.hpp) and the
// organization's attributes, unless --map names it (docs/api/imports.md "Imports").
#pragma once

#include "client/options.hpp"
#include "rules/imports/mapping.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
class AttributeRegistry;
enum class CoreField : std::uint8_t;
}  // namespace muster::rules

namespace muster::client {

// The kind of values that a column holds, by its target.
enum class ValueKind : std::uint8_t { Text, Date, Country, Number, Boolean, Choice, Choices };

struct ColumnRoute {
    enum class Kind : std::uint8_t {
        Ignored,
        Core,
        Attribute,
        // A JSON object of attributes, as in the error report, so that a corrected report can be
        // imported. The API's mapping cannot express it and declares the column as ignored.
        AttributesJson,
    };
    std::string column;  // its name in the header, made unique
    Kind kind = Kind::Ignored;
    rules::CoreField field = {};  // of Core
    std::string attribute_key;    // of Attribute

    bool operator==(const ColumnRoute&) const = default;
};

// Names as a mapping has them: on one line, of at most 240 characters, "column 3" for an empty one,
// "Email (2)" for the second of a name.
[[nodiscard]] std::vector<std::string> unique_column_names(const std::vector<std::string>& header);

// The column that `option` ("--map") names: by its name, or by column_key(). Throws UsageError.
[[nodiscard]] std::size_t find_column(std::string_view option, const std::string& column,
                                      const std::vector<std::string>& names);

// A route for each column, in order. A target has one column at most: the one with the best name;
// others are ignored. `names` come from unique_column_names(). Throws UsageError for a --map with
// an unknown column, an unknown target or a repeated target, and if email has no column.
[[nodiscard]] std::vector<ColumnRoute> route_columns(const std::vector<std::string>& names,
                                                     const std::vector<MapOption>& maps,
                                                     const rules::AttributeRegistry& registry);

// The key of the disabled attribute that the column's name matches, or "".
[[nodiscard]] std::string disabled_attribute(std::string_view column,
                                             const rules::AttributeRegistry& registry);

// Text for an ignored column.
[[nodiscard]] ValueKind value_kind(const ColumnRoute& route,
                                   const rules::AttributeRegistry& registry);

// As in --map: "email", "attribute:phone", "attributes", "ignored".
[[nodiscard]] std::string target_text(const ColumnRoute& route);

[[nodiscard]] rules::Mapping to_mapping(const std::vector<ColumnRoute>& routes);

}  // namespace muster::client
