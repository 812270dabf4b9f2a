// What a client wrote, byte for byte: the parser makes numbers its own, and a value that is kept
// for its sender must come back as it was sent.
#pragma once

#include "json/json_in.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::json {

// The texts of an array's entries or an object's values, in their order. `container` must be JSON
// that JsonBody has accepted.
[[nodiscard]] std::vector<std::string_view> entries_as_sent(std::string_view container);

// The text of the object's value of that key; "" where it has none. `text`: what the object was
// parsed from.
[[nodiscard]] std::string_view member_as_sent(const JsonIn& object, std::string_view text,
                                              std::string_view key);

// Without white space between the tokens; nothing else is changed.
[[nodiscard]] std::string compact_json(std::string_view json);

// For each object of the array `list` in the root object: its value of `key`, compact, "" where it
// has none. `text`: what the root was parsed from. Nothing where there is no such list.
[[nodiscard]] std::vector<std::string> members_as_sent(const JsonIn& root, std::string_view text,
                                                       std::string_view list, std::string_view key);

}  // namespace muster::json
