// Declares the records of replies as constants. One list of fields writes the JSON and prints the
// JSON Schema.
//
//   constexpr auto kStaged = record<Staged>(
//       "Staged", field<&Staged::staged>("staged", "Number of rows that this call staged."));
#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <json/value.h>

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace muster {

// JSON text that is already a complete object or array.
struct RawJson {
    std::string text;
};

template <class Value>
struct JsonType;

// A string that is one of these texts.
inline Json::Value one_of(std::initializer_list<std::string_view> texts) {
    Json::Value schema;
    schema["type"] = "string";
    for (const std::string_view text : texts) schema["enum"].append(std::string(text));
    return schema;
}

// A value of the schema, or null.
inline Json::Value or_null(const Json::Value& inner) {
    if (inner.empty()) return inner;  // accepts any JSON, including null
    Json::Value schema;
    if (!inner["type"].isString() || inner.isMember("enum") || inner.isMember("title")) {
        schema["anyOf"].append(inner);
        schema["anyOf"].append(Json::objectValue)["type"] = "null";
        return schema;
    }
    schema = inner;
    schema["type"] = Json::Value(Json::arrayValue);
    schema["type"].append(inner["type"]);
    schema["type"].append("null");
    return schema;
}

inline Json::Value array_of_schema(Json::Value items) {
    Json::Value schema;
    schema["type"] = "array";
    schema["items"] = std::move(items);
    return schema;
}

// An object with any keys whose values match the schema. An empty schema accepts any JSON.
inline Json::Value map_of(Json::Value values) {
    Json::Value schema;
    schema["type"] = "object";
    schema["additionalProperties"] = std::move(values);
    return schema;
}
inline Json::Value any_json() {
    return {Json::objectValue};
}

// Adds the description and the example. `example` is JSON, or plain text if the schema is a string.
// Throws std::logic_error if the schema is not a string and `example` is not one JSON value.
Json::Value described(Json::Value schema, std::string_view meaning, std::string_view example);

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
    static Json::Value schema() { return map_of(any_json()); }
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
    static Json::Value schema() { return or_null(JsonType<Value>::schema()); }
};

template <class Value>
struct JsonType<std::vector<Value>> {
    static void write(JsonWriter& to, const std::vector<Value>& values) {
        to.begin_array();
        for (const Value& value : values) JsonType<Value>::write(to, value);
        to.end_array();
    }
    static Json::Value schema() { return array_of_schema(JsonType<Value>::schema()); }
};

// `meaning` is the description of the field in the OpenAPI document.
template <class Owner>
struct RecordField {
    std::string_view name;
    std::string_view meaning;
    void (*write)(JsonWriter&, const Owner&);
    Json::Value (*type)();
    std::string_view example = {};

    // The same field with a narrower schema than its C++ type has.
    constexpr RecordField of(Json::Value (*narrower)()) const {
        return {name, meaning, write, narrower, example};
    }
    Json::Value schema() const { return described(type(), meaning, example); }
};

template <class>
struct MemberOf;
template <class Owner_, class Value_>
struct MemberOf<Value_ Owner_::*> {
    using Owner = Owner_;
    using Value = Value_;
};

template <auto Member>
constexpr auto field(std::string_view name, std::string_view meaning,
                     std::string_view example = {}) {
    using Owner = typename MemberOf<decltype(Member)>::Owner;
    using Value = typename MemberOf<decltype(Member)>::Value;
    return RecordField<Owner>{
        name, meaning,
        [](JsonWriter& to, const Owner& owner) { JsonType<Value>::write(to, owner.*Member); },
        [] { return JsonType<Value>::schema(); }, example};
}

// A field of a member's member.
template <auto Member, auto Inner>
constexpr auto field(std::string_view name, std::string_view meaning,
                     std::string_view example = {}) {
    using Owner = typename MemberOf<decltype(Member)>::Owner;
    using Value = typename MemberOf<decltype(Inner)>::Value;
    return RecordField<Owner>{name, meaning,
                              [](JsonWriter& to, const Owner& owner) {
                                  JsonType<Value>::write(to, owner.*Member.*Inner);
                              },
                              [] { return JsonType<Value>::schema(); }, example};
}

template <class Owner, std::size_t kCount>
struct Record {
    std::string_view name;  // the component's name in the OpenAPI document
    std::array<RecordField<Owner>, kCount> fields;
    bool is_closed = false;  // the schema allows no further fields

    void write(JsonWriter& to, const Owner& owner) const {
        to.begin_object();
        for (const auto& entry : fields) {
            to.key(entry.name);
            entry.write(to, owner);
        }
        to.end_object();
    }

    // The title becomes the name of the component in the OpenAPI document. Unless the record is
    // closed, the schema allows further fields, because later versions may add some.
    Json::Value schema() const {
        Json::Value schema = JsonType<std::string>::typed("object");
        schema["title"] = std::string(name);
        for (const auto& entry : fields) {
            const std::string key(entry.name);
            schema["properties"][key] = entry.schema();
            schema["required"].append(key);
        }
        if (is_closed) schema["additionalProperties"] = false;
        return schema;
    }
};

// A record to which later versions may add no fields.
template <class Owner, std::size_t kCount>
constexpr auto closed(Record<Owner, kCount> record) {
    record.is_closed = true;
    return record;
}

template <class Owner, class... Fields>
constexpr auto record(std::string_view name, Fields... fields) {
    return Record<Owner, sizeof...(Fields)>{name, {fields...}};
}

// The record with additional fields at its end.
template <class Owner, std::size_t kCount, class... More>
constexpr auto extended(const Record<Owner, kCount>& base, std::string_view name, More... more) {
    return std::apply(
        [&](const auto&... fields) { return record<Owner>(name, fields..., more...); },
        base.fields);
}

// The JSON text of one record.
template <class RecordType, class Owner>
std::string to_json(const RecordType& record, const Owner& owner) {
    std::string text;
    JsonWriter writer(text);
    record.write(writer, owner);
    return text;
}

}  // namespace muster
