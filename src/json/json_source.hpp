// JSON text exactly as the client sent it. The parser converts numbers, and values that Muster
// stores for the sender must not change.
#pragma once

#include "json/json_in.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::json {

// The texts of an array's entries or of an object's values, in order. `container` must be JSON that
// JsonBody has accepted.
[[nodiscard]] std::vector<std::string_view> entries_as_sent(std::string_view container);

// The text of the object's value for `key`, or "" if the key is missing. `text` is the text from
// which the object was parsed.
[[nodiscard]] std::string_view member_as_sent(const JsonIn& object, std::string_view text,
                                              std::string_view key);

// Removes the white space between tokens, and writes \u escapes of non-ASCII characters as UTF-8.
// Changes nothing else. `json` must be JSON that JsonBody has accepted.
[[nodiscard]] std::string compact_json(std::string_view json);

// For each object of the array `list` in the root object: the compact text of its value for `key`,
// or "" if the key is missing. `text` is the text from which the root was parsed. Returns an empty
// list if the root has no array `list`.
[[nodiscard]] std::vector<std::string> members_as_sent(const JsonIn& root, std::string_view text,
                                                       std::string_view list, std::string_view key);

}  // namespace muster::json
