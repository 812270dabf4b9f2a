// What a reply holds, as constants: a record's fields are written to JSON and described as JSON
// Schema from one list.
//
//   constexpr auto kStaged = record<Staged>("Staged", field<&Staged::staged>("staged"));
#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <json/value.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// JSON text that is a complete object or array already.
struct RawJson {
    std::string text;
};

template <class Value>
struct JsonType;

template <>
struct JsonType<std::string> {
    static void write(JsonWriter& to, const std::string& value) { to.string(value); }
    static Json::Value schema() { return typed("string"); }
    static Json::Value typed(const char* type, const char* format = nullptr) {
        Json::Value schema;
        schema["type"] = type;
        if (format) schema["format"] = format;
        return schema;
    }
};

template <>
struct JsonType<bool> {
    static void write(JsonWriter& to, bool value) { to.boolean(value); }
    static Json::Value schema() { return JsonType<std::string>::typed("boolean"); }
};

template <class Number>
requires std::is_integral_v<Number>
struct JsonType<Number> {
    static void write(JsonWriter& to, Number value) { to.number(static_cast<std::int64_t>(value)); }
    static Json::Value schema() { return JsonType<std::string>::typed("integer"); }
};

template <class Tag>
struct JsonType<Id<Tag>> {
    static void write(JsonWriter& to, const Id<Tag>& value) { to.string(value.text()); }
    static Json::Value schema() { return JsonType<std::string>::typed("string", "uuid"); }
};

template <>
struct JsonType<Timestamp> {
    static void write(JsonWriter& to, Timestamp value) { to.string(value.text()); }
    static Json::Value schema() { return JsonType<std::string>::typed("string", "date-time"); }
};

template <>
struct JsonType<RawJson> {
    static void write(JsonWriter& to, const RawJson& value) { to.raw(value.text); }
    static Json::Value schema() { return JsonType<std::string>::typed("object"); }
};

template <Named Enum>
struct JsonType<Enum> {
    static void write(JsonWriter& to, Enum value) { to.string(text_of(value)); }
    static Json::Value schema() {
        Json::Value schema = JsonType<std::string>::typed("string");
        for (const auto& name : kNames<Enum>) schema["enum"].append(std::string(name.text));
        return schema;
    }
};

template <class Value>
struct JsonType<std::optional<Value>> {
    static void write(JsonWriter& to, const std::optional<Value>& value) {
        value ? JsonType<Value>::write(to, *value) : to.null();
    }
    static Json::Value schema() {
        Json::Value inner = JsonType<Value>::schema();
        if (!inner["type"].isString() || inner.isMember("enum")) {
            Json::Value schema;
            schema["anyOf"].append(std::move(inner));
            schema["anyOf"].append(JsonType<std::string>::typed("null"));
            return schema;
        }
        Json::Value types(Json::arrayValue);
        types.append(inner["type"]);
        types.append("null");
        inner["type"] = std::move(types);
        return inner;
    }
};

template <class Value>
struct JsonType<std::vector<Value>> {
    static void write(JsonWriter& to, const std::vector<Value>& values) {
        to.begin_array();
        for (const Value& value : values) JsonType<Value>::write(to, value);
        to.end_array();
    }
    static Json::Value schema() {
        Json::Value schema = JsonType<std::string>::typed("array");
        schema["items"] = JsonType<Value>::schema();
        return schema;
    }
};

template <class Owner>
struct RecordField {
    std::string_view name;
    void (*write)(JsonWriter&, const Owner&);
    Json::Value (*schema)();
};

template <class>
struct MemberOf;
template <class Owner_, class Value_>
struct MemberOf<Value_ Owner_::*> {
    using Owner = Owner_;
    using Value = Value_;
};

template <auto Member>
constexpr auto field(std::string_view name) {
    using Owner = typename MemberOf<decltype(Member)>::Owner;
    using Value = typename MemberOf<decltype(Member)>::Value;
    return RecordField<Owner>{
        name, [](JsonWriter& to, const Owner& owner) { JsonType<Value>::write(to, owner.*Member); },
        [] { return JsonType<Value>::schema(); }};
}

template <class Owner, std::size_t kCount>
struct Record {
    std::string_view name;  // in the description's components
    std::array<RecordField<Owner>, kCount> fields;

    void write(JsonWriter& to, const Owner& owner) const {
        to.begin_object();
        for (const auto& entry : fields) {
            to.key(entry.name);
            entry.write(to, owner);
        }
        to.end_object();
    }

    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("object");
        schema["additionalProperties"] = false;
        for (const auto& entry : fields) {
            const std::string key(entry.name);
            schema["properties"][key] = entry.schema();
            schema["required"].append(key);
        }
        return schema;
    }
};

template <class Owner, class... Fields>
constexpr auto record(std::string_view name, Fields... fields) {
    return Record<Owner, sizeof...(Fields)>{name, {fields...}};
}

template <class RecordType, class Owner>
std::string to_json(const RecordType& record, const Owner& owner) {
    std::string text;
    JsonWriter writer(text);
    record.write(writer, owner);
    return text;
}

}  // namespace muster
