// Reads columns of JSON that replies contain unchanged: db::converted<stored_texts, …>("tags").
// Throws DbError for text that is not JSON of the column's kind.
#pragma once

#include "db/columns.hpp"
#include "rules/stored_json.hpp"

#include <optional>
#include <string>
#include <utility>

namespace muster::store {

[[nodiscard]] inline RawJson stored_object(std::string text) {
    if (!rules::is_stored_object(text)) db::refuse_value("a text is not a JSON object");
    return {std::move(text)};
}

[[nodiscard]] inline RawJson stored_texts(std::string text) {
    if (!rules::is_stored_texts(text)) db::refuse_value("a text is not a JSON array of texts");
    return {std::move(text)};
}

// Any JSON; NULL is nullopt.
[[nodiscard]] inline std::optional<RawJson> stored_json(std::optional<std::string> text) {
    if (!text) return std::nullopt;
    if (!rules::is_stored_json(*text)) db::refuse_value("a text is not JSON");
    return RawJson{std::move(*text)};
}

}  // namespace muster::store
