// A small JSON Schema validator that supports what Muster's schemas use, to compare what they allow
// with what is accepted.
#pragma once

#include "base/text.hpp"

#include <json/value.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace muster::test {

class SchemaCheck {
  public:
    // References like "#/components/schemas/…" are resolved in `document`.
    explicit SchemaCheck(Json::Value document = Json::Value()) : document_(std::move(document)) {}

    bool allows(const Json::Value& schema, const Json::Value& value) const {
        if (schema.isMember("$ref")) return allows(referred(schema["$ref"].asString()), value);
        if (schema.isMember("anyOf")) {
            return std::any_of(schema["anyOf"].begin(), schema["anyOf"].end(),
                               [&](const Json::Value& one) { return allows(one, value); });
        }
        if (schema.isMember("type") && !has_type(schema["type"], value)) return false;
        if (schema.isMember("enum") && std::find(schema["enum"].begin(), schema["enum"].end(),
                                                 value) == schema["enum"].end()) {
            return false;
        }
        if (value.isString()) return text_fits(schema, value.asString());
        if (value.isIntegral()) return number_fits(schema, value);
        if (value.isArray()) return array_fits(schema, value);
        if (value.isObject()) return object_fits(schema, value);
        return true;
    }

    const Json::Value& referred(const std::string& reference) const {
        const std::string prefix = "#/components/schemas/";
        const Json::Value& schemas = document_["components"]["schemas"];
        const std::string name = reference.substr(std::min(prefix.size(), reference.size()));
        if (!reference.starts_with(prefix) || !schemas.isMember(name)) {
            throw std::runtime_error("unresolved reference: " + reference);
        }
        return schemas[name];
    }

  private:
    static bool is(const std::string& type, const Json::Value& value) {
        if (type == "string") return value.isString();
        if (type == "integer")
            return value.isIntegral() && !value.isBool() && value.type() != Json::realValue;
        if (type == "number") return value.isNumeric() && !value.isBool();
        if (type == "boolean") return value.isBool();
        if (type == "null") return value.isNull();
        if (type == "array") return value.isArray();
        if (type == "object") return value.isObject();
        throw std::runtime_error("unknown type: " + type);
    }
    static bool has_type(const Json::Value& types, const Json::Value& value) {
        if (types.isString()) return is(types.asString(), value);
        return std::any_of(types.begin(), types.end(),
                           [&](const Json::Value& type) { return is(type.asString(), value); });
    }
    static bool count_fits(const Json::Value& schema, const char* least, const char* most,
                           std::size_t count) {
        return !(schema.isMember(least) && count < schema[least].asUInt64()) &&
               !(schema.isMember(most) && count > schema[most].asUInt64());
    }
    static bool text_fits(const Json::Value& schema, const std::string& text) {
        return count_fits(schema, "minLength", "maxLength", utf8_length(text));
    }
    static bool number_fits(const Json::Value& schema, const Json::Value& value) {
        if (value.isBool()) return true;
        return !(schema.isMember("minimum") && value < schema["minimum"]) &&
               !(schema.isMember("maximum") && schema["maximum"] < value);
    }
    bool array_fits(const Json::Value& schema, const Json::Value& value) const {
        return count_fits(schema, "minItems", "maxItems", value.size()) &&
               std::all_of(value.begin(), value.end(), [&](const Json::Value& entry) {
                   return !schema.isMember("items") || allows(schema["items"], entry);
               });
    }
    bool object_fits(const Json::Value& schema, const Json::Value& value) const {
        if (!count_fits(schema, "minProperties", "maxProperties", value.size())) return false;
        for (const Json::Value& name : schema["required"]) {
            if (!value.isMember(name.asString())) return false;
        }
        const Json::Value& properties = schema["properties"];
        const Json::Value& others = schema["additionalProperties"];  // null, false, or a schema
        const auto names = value.getMemberNames();
        return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
            if (properties.isMember(name)) return allows(properties[name], value[name]);
            return others.isObject() ? allows(others, value[name]) : others.isNull();
        });
    }

    Json::Value document_;
};

}  // namespace muster::test
