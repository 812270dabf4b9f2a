#include "db/columns.hpp"

#include "base/json.hpp"

#include <json/value.h>

#include <utility>

namespace muster::db {

void refuse_value(std::string_view what) {
    throw DbError(DbError::Kind::Other, 0, "stored: " + std::string(what));
}

std::vector<std::string> texts_of(const std::string& json) {
    Json::Value value;
    if (!parse_json(json, value) || !value.isArray()) refuse_value("a text is not a JSON array");
    std::vector<std::string> texts;
    for (const Json::Value& text : std::as_const(value)) texts.push_back(text.asString());
    return texts;
}

}  // namespace muster::db
