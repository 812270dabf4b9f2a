#include "base/record.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace muster {
namespace {

bool is_text(const Json::Value& type) {
    return type == "string" || (type.isArray() && !type.empty() && type[0] == "string");
}

// parse_json() accepts an object or an array, and the example may be a number.
Json::Value parsed(std::string_view example) {
    Json::Value list;
    if (!parse_json("[" + std::string(example) + "]", list) || list.size() != 1) {
        throw std::logic_error("the example " + std::string(example) + " is not one JSON value");
    }
    return list[0];
}

}  // namespace

Json::Value described(Json::Value schema, std::string_view meaning, std::string_view example) {
    schema["description"] = std::string(meaning);
    if (example.empty()) return schema;
    const bool is_plain = is_text(std::as_const(schema)["type"]);
    schema["examples"].append(is_plain ? Json::Value(std::string(example)) : parsed(example));
    return schema;
}

}  // namespace muster
