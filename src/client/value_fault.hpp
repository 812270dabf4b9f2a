// The faults of a member's values: code, cell and rule.
#pragma once

#include "base/faults.hpp"
#include "client/dates.hpp"
#include "client/row_fault.hpp"

#include <string_view>

namespace muster::rules {
struct Attribute;
}

namespace muster::client {

// A fault of a core field, or of the record (column "").
[[nodiscard]] RowFault field_fault(FieldCode code, std::string_view column, std::string_view cell);
// A date that is not in the column's format, or of which a part is missing.
[[nodiscard]] RowFault date_fault(std::string_view column, std::string_view cell,
                                  const DateCell& date, const DatePattern& pattern);
// A value that is not of the attribute's type, or not one of its choices.
[[nodiscard]] RowFault attribute_fault(const rules::Attribute& attribute, std::string_view column,
                                       std::string_view cell);
[[nodiscard]] RowFault encoding_fault(std::string_view column);
[[nodiscard]] RowFault too_many_cells_fault();

}  // namespace muster::client
