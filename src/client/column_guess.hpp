// Where each column of a file goes: guessed from its name (column_names.hpp) and the organization's
// own attributes, with the user's --map on top (docs/api/imports.md "Imports", specification 2.4).
#pragma once

#include "client/options.hpp"
#include "rules/attributes.hpp"
#include "rules/imports/mapping.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
enum class CoreField : std::uint8_t;
}

namespace muster::client {

struct ColumnRoute {
    enum class Kind : std::uint8_t {
        Ignored,
        Core,
        Attribute,
        // A JSON object of attributes, as in the error report, so that a mended report can be
        // imported. The API's mapping has no word for it: it is declared as ignored there.
        AttributesJson,
    };
    std::string column;  // its name in the header, made unique
    Kind kind = Kind::Ignored;
    rules::CoreField field = {};  // of Core
    std::string attribute_key;    // of Attribute

    bool operator==(const ColumnRoute&) const = default;
};

// Lower case, umlauts as ae oe ue ss, other Latin-1 accents dropped, and nothing left of ASCII
// white space and punctuation: "E-Mail 1 - Value" and "e_mail1value" are alike.
[[nodiscard]] std::string column_key(std::string_view name);

// Names that a mapping can hold: trimmed, "column 3" for an empty one, "Email (2)" for the second
// of a name.
[[nodiscard]] std::vector<std::string> unique_column_names(const std::vector<std::string>& header);

// One route a column, in order; no two go to one target: of several that could, the best name wins
// and the rest is ignored. `names` come from unique_column_names(). Throws UsageError for a --map
// that names no column, no target or a target twice, and when no column goes to email.
[[nodiscard]] std::vector<ColumnRoute> route_columns(const std::vector<std::string>& names,
                                                     const std::vector<MapOption>& maps,
                                                     const rules::AttributeRegistry& registry);

// "email", "attribute:phone", "attributes", "ignored": what --map would say.
[[nodiscard]] std::string target_text(const ColumnRoute& route);

[[nodiscard]] rules::Mapping to_mapping(const std::vector<ColumnRoute>& routes);

}  // namespace muster::client
