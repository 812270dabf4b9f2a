// The query string: decoded once, parameters read by name, unknown parameters rejected.
#pragma once

#include "base/faults.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace muster::http {

// Decodes %XX. nullopt for an invalid escape, a NUL or invalid UTF-8. '+' is decoded to a space.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

// The first value of this parameter, decoded; nullopt if it is missing or malformed. For values
// that are needed before the whole query is validated.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

class Query {
  public:
    // A malformed or repeated parameter adds a fault.
    Query(std::string_view query, Faults& faults);

    // nullopt if the parameter is absent. Adds a fault if the value is longer than `max_length`
    // characters.
    std::optional<std::string> text(std::string_view name, std::size_t max_length);
    // `fallback` if the parameter is absent or has a fault. Adds WrongType if the value is not an
    // integer in decimal digits, and OutOfRange if it is not from `least` to `most`.
    int integer(std::string_view name, int fallback, int least, int most);
    // True for "true"; false for "false" or if the parameter is absent. Any other value is a fault.
    bool flag(std::string_view name);
    // The parameters whose names begin with `prefix`, by the rest of the name. Adds a fault for a
    // value that is longer than `max_length` characters.
    std::map<std::string, std::string> all_of(std::string_view prefix, std::size_t max_length);
    // Adds a fault for each parameter that was not read.
    void finish();

  private:
    std::map<std::string, std::string, std::less<>> values_;
    std::set<std::string, std::less<>> known_;
    Faults& faults_;
};

}  // namespace muster::http
