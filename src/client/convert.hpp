// Converts a record of the file to a member payload, by the routes of its columns and the types of
// the organization's attributes. Finds the errors for which the server would reject a whole chunk.
#pragma once

#include "base/time.hpp"
#include "client/column_guess.hpp"
#include "client/refusal.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

struct Converted {
    rules::MemberFields fields;  // normalized; the invalid cell of a refused record is unchanged
    std::optional<Refusal> refusal;
};

class Converter {
  public:
    // `registry` must outlive it. `today` decides on dob for the whole run.
    Converter(std::vector<ColumnRoute> routes, const rules::AttributeRegistry& registry, Date today)
        : routes_(std::move(routes)), registry_(registry), today_(today) {}

    // Removes the formula guard and white space of each cell. An empty or missing cell is an absent
    // value. The first error is the refusal.
    [[nodiscard]] Converted convert(const std::vector<std::string>& cells) const;

  private:
    std::vector<ColumnRoute> routes_;
    const rules::AttributeRegistry& registry_;
    Date today_;
};

// The JSON of one cell: a number if the type is number and the text is a JSON number, true or false
// for a boolean's true yes ja 1 / false no nein 0, an array for multi_choice (split at ; or else |
// or else ,), and a string for anything else, which the server's dry run rejects. `cell` is valid
// UTF-8 and not empty.
[[nodiscard]] std::string attribute_json(rules::AttributeType type, std::string_view cell);

// Appends {"rowNumber":…,"payload":{…}}.
void append_row_json(std::string& to, std::uint32_t row_number, const rules::MemberFields& fields);

}  // namespace muster::client
