// A record of the file made into a member payload (specification 2.1), by the routes of its columns
// and the types of the organization's attributes; faults that the server would refuse a whole chunk
// for are found here.
#pragma once

#include "base/time.hpp"
#include "client/column_guess.hpp"
#include "rules/attributes.hpp"
#include "rules/members/fields.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// Why a record is not sent. `code` is "LOCAL_INVALID_EMAIL" and so on (listed in muster-import(1)).
struct Refusal {
    std::string code;
    std::string message;
    std::string column;  // "" where the record as a whole is refused
    bool operator==(const Refusal&) const = default;
};

struct Converted {
    rules::MemberFields fields;  // normalised; of a refused record the faulty cell stays as it was
    std::optional<Refusal> refusal;
};

class Converter {
  public:
    // `registry` must outlive it. `today` decides on dob for the whole run.
    Converter(std::vector<ColumnRoute> routes, const rules::AttributeRegistry& registry, Date today)
        : routes_(std::move(routes)), registry_(registry), today_(today) {}

    // The formula guard is taken off each cell, white space trimmed, an empty cell is an absent
    // value; missing cells at the end are empty ones. The first fault counts.
    [[nodiscard]] Converted convert(const std::vector<std::string>& cells) const;

  private:
    std::vector<ColumnRoute> routes_;
    const rules::AttributeRegistry& registry_;
    Date today_;
};

// The JSON of one cell: a number where the type is number and the text is a JSON number, true or
// false for a boolean's true yes ja 1 / false no nein 0, an array for multi_choice (split at ; or
// else | or else ,); a string for anything else, so that the server's dry run names the fault.
// `cell` is valid UTF-8 and not empty.
[[nodiscard]] std::string attribute_json(rules::AttributeType type, std::string_view cell);

// Appends {"rowNumber":…,"payload":{…}}.
void append_row_json(std::string& to, std::uint32_t row_number, const rules::MemberFields& fields);

}  // namespace muster::client
