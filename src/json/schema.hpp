// Declares request bodies as constants. A type decodes JSON, collects all faults and prints its
// JSON Schema, so the OpenAPI document always matches the decoder.
//
//   constexpr auto kComment = object<Comment>(
//       required("text", &Comment::text, Text{1, 255}, "The comment."),
//       optional("rank", &Comment::rank, Integer{1, 5}, "Stars. Left out: none.", "4"));
#pragma once

#include "base/faults.hpp"
#include "base/record.hpp"
#include "base/time.hpp"
#include "json/json_in.hpp"

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace muster::json {

// The path of the value being decoded. It is formatted only for a fault: "rows[3].payload.email".
class Path {
  public:
    Path() = default;
    Path(const Path& parent, std::string_view name) : parent_(&parent), name_(name) {}
    Path(const Path& parent, std::size_t index) : parent_(&parent), index_(index) {}
    std::string text() const;

  private:
    const Path* parent_ = nullptr;
    std::string_view name_;
    std::size_t index_ = 0;
};

class Decoding {
  private:
    // Returned in place: a copy of the optional takes a tenth of the time of decoding a row.
    template <auto kAccessor>
    auto expected(const JsonIn& in, const Path& path) {
        auto value = (in.*kAccessor)();
        if (!value) fault(path, FieldCode::WrongType);
        return value;
    }

  public:
    Faults faults;
    Date today;
    // For a text of unknown length: it grows once for all rows, and each row gets an exact copy.
    std::string scratch;

    void fault(const Path& path, FieldCode code, FieldLimits limits = {}) {
        if (faults.is_full()) return faults.truncate();
        faults.add(path.text(), code, std::move(limits));
    }
    // Each returns nullopt and adds a fault if the value is of another kind.
    auto string(const JsonIn& in, const Path& path) { return expected<&JsonIn::string>(in, path); }
    auto boolean(const JsonIn& in, const Path& path) {
        return expected<&JsonIn::boolean>(in, path);
    }
    auto array(const JsonIn& in, const Path& path) { return expected<&JsonIn::array>(in, path); }
    auto object(const JsonIn& in, const Path& path) { return expected<&JsonIn::object>(in, path); }
};

// ---------------------------------------------------------------------------- types

// A string of `min`..`max` characters, trimmed, without control characters. It is composed
// (base/unicode.hpp) if it is searched or compared.
struct Text {
    std::size_t min;
    std::size_t max;
    bool is_searched = false;
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const;
    Json::Value schema() const;
};

struct Integer {
    std::int64_t min;
    std::int64_t max;
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::int64_t& out) const;
    Json::Value schema() const;
};

// One of the texts of an enum (base/names.hpp).
template <Named Enum>
struct Choice {
    void decode(const JsonIn& in, const Path& path, Decoding& to, Enum& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        const auto value = parse<Enum>(*text);
        if (!value) return to.fault(path, FieldCode::InvalidChoice, {.allowed = texts_of<Enum>()});
        out = *value;
    }
    Json::Value schema() const { return JsonType<Enum>::schema(); }
};

struct Boolean {
    void decode(const JsonIn& in, const Path& path, Decoding& to, bool& out) const;
    Json::Value schema() const;
};

// An email address, trimmed and lower-case.
struct Email {
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const;
    Json::Value schema() const;
};

// Exactly `count` decimal digits. White space is removed: people see the code in groups.
struct Digits {
    std::size_t count;
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const;
    Json::Value schema() const;
};

// A word for URLs. `is_one` validates it; `pattern` is printed in the schema. Words for which
// `is_reserved` holds are rejected too.
struct Slug {
    bool (*is_one)(std::string_view text);
    std::string_view pattern;
    std::string_view meaning;  // "2 to 63 characters: …", for the message
    std::size_t max = 0;
    bool (*is_reserved)(std::string_view text) = nullptr;
    std::string_view reserved_meaning = {};
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const;
    Json::Value schema() const;
};

// An ISO 8601 time with any offset.
struct Instant {
    void decode(const JsonIn& in, const Path& path, Decoding& to, Timestamp& out) const;
    Json::Value schema() const;
};

template <class IdType>
struct Uuid {
    void decode(const JsonIn& in, const Path& path, Decoding& to, IdType& out) const {
        const auto text = to.string(in, path);
        if (!text) return;
        const auto id = IdType::parse(*text);
        if (!id) return to.fault(path, FieldCode::InvalidUuid);
        out = *id;
    }
    Json::Value schema() const {
        Json::Value schema;
        schema["type"] = "string";
        schema["format"] = "uuid";
        return schema;
    }
};

// An object that other code validates, as compact JSON of at most `most_bytes` bytes.
struct AnyObject {
    std::size_t most_bytes;
    void decode(const JsonIn& in, const Path& path, Decoding& to, RawJson& out) const;
    Json::Value schema() const;
};

// Any JSON value, compact, with numbers as the parser read them (json/json_source.hpp keeps them as
// they were sent).
struct AnyJson {
    void decode(const JsonIn& in, const Path& path, Decoding& to, RawJson& out) const;
    Json::Value schema() const;
};

// Decodes as `type`. The schema is `describe()`, which a later check enforces.
template <class Type>
struct DescribedAs {
    Type type;
    Json::Value (*describe)();

    template <class T>
    void decode(const JsonIn& in, const Path& path, Decoding& to, T& out) const {
        type.decode(in, path, to, out);
    }
    Json::Value schema() const { return describe(); }
};

// `min` to `max` entries of `type`. A longer array is one fault; its entries are not decoded.
template <class Type>
struct ArrayOf {
    Type type;
    std::size_t min;
    std::size_t max;

    template <class T>
    void decode(const JsonIn& in, const Path& path, Decoding& to, std::vector<T>& out) const {
        const auto entries = to.array(in, path);
        if (!entries) return;
        const std::size_t size = entries->size();
        if (size < min) return to.fault(path, FieldCode::TooShort, shortest(min));
        if (size > max) return to.fault(path, FieldCode::TooLong, longest(max));
        out.reserve(size);
        std::size_t index = 0;
        for (const JsonIn& entry : *entries) {
            type.decode(entry, Path(path, index++), to, out.emplace_back());
            if (to.faults.truncated()) return;
        }
    }

    Json::Value schema() const {
        Json::Value schema;
        schema["type"] = "array";
        schema["items"] = type.schema();
        if (min > 0) schema["minItems"] = Json::UInt64(min);
        schema["maxItems"] = Json::UInt64(max);
        return schema;
    }
};

template <class Type>
constexpr ArrayOf<Type> array_of(Type type, std::size_t min, std::size_t max) {
    return {type, min, max};
}

// ---------------------------------------------------------------------------- objects

template <class Owner, class Member, class Type>
struct Field {
    std::string_view name;
    Member Owner::*member;
    Type type;
    std::string_view meaning;
    std::string_view example;
    bool is_required;

    void decode(const JsonIn& in, const Path& path, Decoding& to, Owner& out) const {
        if constexpr (requires { (out.*member).reset(); }) {
            type.decode(in, path, to, (out.*member).emplace());
        } else {
            type.decode(in, path, to, out.*member);
        }
    }
};

// A field that must be present and not null.
template <class Owner, class Member, class Type>
constexpr auto required(std::string_view name, Member Owner::*member, Type type,
                        std::string_view meaning, std::string_view example = {}) {
    return Field<Owner, Member, Type>{name, member, type, meaning, example, true};
}

// If the field is absent or null, the member keeps its value.
template <class Owner, class Member, class Type>
constexpr auto optional(std::string_view name, Member Owner::*member, Type type,
                        std::string_view meaning, std::string_view example = {}) {
    return Field<Owner, Member, Type>{name, member, type, meaning, example, false};
}

// A field of a change request, for a value that every record has. If it is absent, the member keeps
// its value. Null is a fault.
template <class Owner, class Member, class Type>
struct ChangeableField : Field<Owner, Member, Type> {
    static constexpr bool kRejectsNull = true;
};
template <class Owner, class Member, class Type>
constexpr auto changeable(std::string_view name, Member Owner::*member, Type type,
                          std::string_view meaning, std::string_view example = {}) {
    return ChangeableField<Owner, Member, Type>{{name, member, type, meaning, example, false}};
}

// A field of a change request, for a value that can be cleared.
template <class Owner, class Value, class Type>
struct ClearableField {
    std::string_view name;
    std::optional<std::optional<Value>> Owner::*member;
    Type type;
    std::string_view meaning;
    std::string_view example;
    bool is_required = false;

    void decode(const JsonIn& in, const Path& path, Decoding& to, Owner& out) const {
        type.decode(in, path, to, (out.*member).emplace().emplace());
    }
    void clear(Owner& out) const { (out.*member).emplace(); }
};

// If the field is absent, the member keeps its value. Null sets it to an empty optional.
template <class Owner, class Value, class Type>
constexpr auto clearable(std::string_view name, std::optional<std::optional<Value>> Owner::*member,
                         Type type, std::string_view meaning, std::string_view example = {}) {
    return ClearableField<Owner, Value, Type>{name, member, type, meaning, example};
}

template <class Owner, class... Fields>
struct Object {
    using Value = Owner;
    std::tuple<Fields...> fields;
    std::string_view name = {};  // the component's name in the OpenAPI document; "" = no component

    constexpr Object named(std::string_view component) const { return {fields, component}; }

    void decode(const JsonIn& in, const Path& path, Decoding& to, Owner& out) const {
        const auto object = to.object(in, path);
        if (!object) return;
        std::uint64_t seen = 0;
        for (const auto& [key, value] : *object) {
            if (!decode_member(key, value, path, to, out, seen)) {
                to.fault(Path(path, key), FieldCode::UnknownField);
            }
        }
        std::size_t index = 0;
        const auto check = [&](const auto& field) {
            if (field.is_required && (seen >> index & 1U) == 0) {
                to.fault(Path(path, field.name), FieldCode::Required);
            }
            ++index;
        };
        std::apply([&](const auto&... field) { (check(field), ...); }, fields);
    }

    Json::Value schema() const {
        Json::Value schema;
        schema["type"] = "object";
        if (!name.empty()) schema["title"] = std::string(name);
        schema["additionalProperties"] = false;
        Json::Value needed(Json::arrayValue);
        const auto add = [&](const auto& field) {
            const Json::Value type = field.type.schema();
            if (field.is_required) needed.append(std::string(field.name));
            schema["properties"][std::string(field.name)] =
                described(takes_null(field) ? or_null(type) : type, field.meaning, field.example);
        };
        std::apply([&](const auto&... field) { (add(field), ...); }, fields);
        if (!needed.empty()) schema["required"] = std::move(needed);
        return schema;
    }

  private:
    static constexpr bool takes_null(const auto& field) {
        return !field.is_required && !requires {
            field.kRejectsNull;
        };
    }

    bool decode_member(std::string_view key, const JsonIn& value, const Path& path, Decoding& to,
                       Owner& out, std::uint64_t& seen) const {
        std::size_t index = 0;
        const auto attempt = [&](const auto& field) {
            if (field.name != key) {
                ++index;
                return false;
            }
            if (!value.is_null()) {
                seen |= std::uint64_t{1} << index;
                field.decode(value, Path(path, field.name), to, out);
                return true;
            }
            if constexpr (requires { field.clear(out); }) field.clear(out);
            if constexpr (requires { field.kRejectsNull; }) {
                to.fault(Path(path, field.name), FieldCode::Required);
            }
            return true;
        };
        return std::apply([&](const auto&... field) { return (attempt(field) || ...); }, fields);
    }
};

template <class Owner, class... Fields>
constexpr auto object(Fields... fields) {
    static_assert(sizeof...(Fields) <= 64);
    return Object<Owner, Fields...>{std::tuple<Fields...>(fields...)};
}

// The object with additional fields. `Owner` is what the base decodes, or derives from it.
template <class Owner, class Base, class... More>
constexpr auto extended(const Base& base, More... more) {
    return std::apply([&](const auto&... fields) { return object<Owner>(fields..., more...); },
                      base.fields);
}

// Throws Error VALIDATION_ERROR.
[[noreturn]] void refuse_fields(const Faults& faults);

// Decodes the whole body. Throws Error VALIDATION_ERROR with all faults.
template <class Schema>
typename Schema::Value decode(const Schema& schema, const JsonIn& root, Date today) {
    Decoding to;
    to.today = today;
    typename Schema::Value value;
    schema.decode(root, Path(), to, value);
    if (!to.faults.empty()) refuse_fields(to.faults);
    return value;
}
}  // namespace muster::json
