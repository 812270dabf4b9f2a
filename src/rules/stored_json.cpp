#include "rules/stored_json.hpp"

#include "base/json.hpp"
#include "json/json_body.hpp"

#include <optional>

namespace muster::rules {
namespace {

using json::JsonIn;

// The value is valid until the next call.
std::optional<JsonIn> parse_stored(std::string_view text) {
    thread_local json::JsonParser parser;
    return parser.parse(text);
}

}  // namespace

std::string json_of_texts(const std::vector<std::string>& texts) {
    std::string json;
    JsonWriter to(json);
    to.begin_array();
    for (const std::string& text : texts) to.string(text);
    to.end_array();
    return json;
}

bool is_stored_json(std::string_view text) {
    return parse_stored(text).has_value();
}

bool is_stored_object(std::string_view text) {
    const auto value = parse_stored(text);
    return value && value->is_object();
}

bool is_stored_texts(std::string_view text) {
    const auto value = parse_stored(text);
    const auto entries = value ? value->array() : std::nullopt;
    if (!entries) return false;
    for (const JsonIn& entry : *entries) {
        if (!entry.is_string()) return false;
    }
    return true;
}

}  // namespace muster::rules
