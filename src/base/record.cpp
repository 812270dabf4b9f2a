#include "base/record.hpp"

#include <utility>

namespace muster {
namespace {

bool is_text(const Json::Value& type) {
    return type == "string" || (type.isArray() && !type.empty() && type[0] == "string");
}

}  // namespace

Json::Value described(Json::Value schema, std::string_view meaning, std::string_view example) {
    schema["description"] = std::string(meaning);
    if (example.empty()) return schema;
    Json::Value value = std::string(example);
    if (!is_text(std::as_const(schema)["type"])) (void)parse_json(example, value);
    schema["examples"].append(std::move(value));
    return schema;
}

}  // namespace muster
