// Converts a record of the file to the payload of a staged row, by the rules of the server
// (rules/members/core_fields.hpp). A call with a malformed row stages nothing, so this code finds
// malformed rows first.
#pragma once

#include "base/time.hpp"
#include "client/column_guess.hpp"
#include "client/row_fault.hpp"
#include "client/value_format.hpp"
#include "rules/members/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

struct Converted {
    rules::MemberFields fields;  // normalized, without the values that have faults
    std::vector<RowFault> faults;

    [[nodiscard]] bool is_refused() const;
};

class Converter {
  public:
    struct Setup {
        std::vector<ColumnRoute> routes;
        std::vector<ValueFormat> formats;  // one for each route
        Date today;                        // decides on dob for the whole run
        // A value with a fault refuses the record. Otherwise only the address does, and a record
        // with too many cells.
        bool rejects_bad_values = false;
    };
    // `registry` must outlive it.
    Converter(Setup setup, const rules::AttributeRegistry& registry);

    // Removes the formula guard and white space of each cell. An empty or missing cell is an absent
    // value. Finds all faults of the record.
    [[nodiscard]] Converted convert(const std::vector<std::string>& cells) const;

  private:
    Setup setup_;
    std::vector<ValueKind> kinds_;
    const rules::AttributeRegistry& registry_;
};

// Appends {"rowNumber":…,"payload":{…}}.
void append_row_json(std::string& to, std::uint32_t row_number, const rules::MemberFields& fields);

}  // namespace muster::client
