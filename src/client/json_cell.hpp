// A cell of the column `attributes`: a JSON object of attributes, as in the error report of the
// API.
#pragma once

#include "client/row_fault.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
class AttributeRegistry;
}

namespace muster::client {

struct JsonCellValue {
    std::string key;
    std::string json;  // with trimmed texts, as the server stores it
    // The server would reject the whole row for this value.
    std::optional<RowFault> fault;
};

struct JsonCell {
    std::vector<JsonCellValue> values;  // without absent ones; numbers are as they are written
    std::optional<RowFault> fault;      // of the cell as a whole
};

// A value of an unknown key has no fault if the server can store it: the dry run rejects its row.
[[nodiscard]] JsonCell read_json_cell(std::string_view column, std::string_view cell,
                                      const rules::AttributeRegistry& registry);

}  // namespace muster::client
