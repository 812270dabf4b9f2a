// Lists of texts as they are stored, and checks of stored JSON that replies contain unchanged. A
// damaged row must not make a malformed reply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// A JSON array of these texts.
[[nodiscard]] std::string json_of_texts(const std::vector<std::string>& texts);

// One JSON value of any kind. Keys may repeat.
[[nodiscard]] bool is_stored_json(std::string_view text);
[[nodiscard]] bool is_stored_object(std::string_view text);
// An array of strings.
[[nodiscard]] bool is_stored_texts(std::string_view text);

}  // namespace muster::rules
