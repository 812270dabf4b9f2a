// The query string: decoded once, each parameter read by name, whatever is left over refused.
#pragma once

#include "base/faults.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace muster::http {

// %XX decoded; nullopt for a bad escape, a NUL or bytes that are no UTF-8. '+' means a space where
// `plus` says so.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool plus);

// The first value of that parameter, decoded; nullopt for none or a malformed one. For what must be
// known before the whole query is judged.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

class Query {
  public:
    // A malformed or repeated parameter is a fault.
    Query(std::string_view query, Faults& faults);

    // nullopt when it is absent.
    std::optional<std::string> text(std::string_view name, std::size_t max_length);
    int integer(std::string_view name, int fallback, int least, int most);
    bool flag(std::string_view name);
    // A fault for each parameter that nobody asked for.
    void finish();

  private:
    std::map<std::string, std::string, std::less<>> values_;
    std::set<std::string, std::less<>> known_;
    Faults& faults_;
};

}  // namespace muster::http
