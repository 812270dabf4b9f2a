// The faults of a member's values: code, cell and rule.
#pragma once

#include "base/faults.hpp"
#include "client/dates.hpp"
#include "client/row_fault.hpp"

#include <cstddef>
#include <string_view>

namespace muster::rules {
struct Attribute;
}

namespace muster::client {

// Of one attribute's value, as JSON (docs/api/limits.md "Limits").
inline constexpr std::size_t kMostAttributeBytes = 4096;

// A fault of a core field, or of the record (column "").
[[nodiscard]] RowFault field_fault(FieldCode code, std::string_view column, std::string_view cell);
// A date that is not in the column's format, or of which a part is missing.
[[nodiscard]] RowFault date_fault(std::string_view column, std::string_view cell,
                                  const DateCell& date, const DatePattern& pattern);
// A value that is not of the attribute's type, or not one of its choices.
[[nodiscard]] RowFault attribute_fault(const rules::Attribute& attribute, std::string_view column,
                                       std::string_view cell);
// A value of the column of JSON objects that is not of the attribute's type. `attribute` may be
// null: of an unknown one that no attribute could have. `place`: "attributes.phone".
[[nodiscard]] RowFault json_value_fault(const rules::Attribute* attribute, std::string_view place,
                                        std::string_view json);
// An attribute of too many bytes of JSON.
[[nodiscard]] RowFault attribute_size_fault(std::string_view place, std::size_t bytes);
[[nodiscard]] RowFault encoding_fault(std::string_view column);
[[nodiscard]] RowFault too_many_cells_fault();

}  // namespace muster::client
