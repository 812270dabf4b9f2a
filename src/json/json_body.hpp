// Strict JSON coming in (docs/api.md "Conventions"): UTF-8, one document, at most 64 levels, no
// duplicate keys, no lone surrogates. Everything else is a BAD_REQUEST before any field is looked
// at.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

namespace muster::json {

using JsonIn = simdjson::dom::element;

inline constexpr std::size_t kMaxDepth = 64;

// The entries of what is known to be an array or an object; by value, so that a range-for keeps
// them.
inline simdjson::dom::array entries_of(const JsonIn& element) {
    return simdjson::dom::array(element.get_array());
}
inline simdjson::dom::object members_of(const JsonIn& element) {
    return simdjson::dom::object(element.get_object());
}

// The parsed document; `body` is kept, since the elements point into the parser.
class JsonBody {
  public:
    // Throws Error BAD_REQUEST, with the reason for a person in details.reason.
    explicit JsonBody(std::string_view body);
    const JsonIn& root() const { return root_; }

  private:
    JsonIn root_;
};

// A text that is equal for equal JSON (keys sorted, no white space), for the idempotency
// comparison.
[[nodiscard]] std::string canonical_json(const JsonIn& element);

}  // namespace muster::json
