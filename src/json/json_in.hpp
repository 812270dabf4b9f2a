// A parsed JSON value. It hides the parser: only json/*.cpp include simdjson.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::json {

class JsonArray;
class JsonObject;

enum class JsonKind : char {
    Null = 'n',
    Boolean = 't',
    Signed = 'l',
    Unsigned = 'u',  // an integer above 2^63 - 1
    Double = 'd',
    Large = 'L',  // an integer beyond 64 bits (json/large_number.hpp)
    String = '"',
    Array = '[',
    Object = '{',
};

// A view into a document, valid as long as the document. An accessor returns nullopt if the value
// is of another kind.
class JsonIn {
  public:
    JsonIn() = default;

    JsonKind kind() const;
    bool is_null() const { return kind() == JsonKind::Null; }
    bool is_string() const { return kind() == JsonKind::String; }
    bool is_boolean() const { return kind() == JsonKind::Boolean; }
    bool is_array() const { return kind() == JsonKind::Array; }
    bool is_object() const { return kind() == JsonKind::Object; }
    bool is_number() const {
        const JsonKind is = kind();
        return is == JsonKind::Signed || is == JsonKind::Unsigned || is == JsonKind::Double ||
               is == JsonKind::Large;
    }

    std::optional<std::string_view> string() const;
    std::optional<bool> boolean() const;
    std::optional<std::int64_t> integer() const;
    std::optional<double> number() const;
    std::optional<JsonArray> array() const;
    std::optional<JsonObject> object() const;
    // The member of an object; nullopt if it is missing or if the value is of another kind.
    std::optional<JsonIn> member(std::string_view key) const;

    bool operator==(const JsonIn&) const = default;

  private:
    // Has the layout of simdjson::dom::element; json_in.cpp asserts it.
    const void* document_ = nullptr;
    std::size_t place_ = 0;
};

class JsonArray {
  public:
    class Iterator {
      public:
        explicit Iterator(const JsonIn& at) : at_(at) {}
        const JsonIn& operator*() const { return at_; }
        Iterator& operator++();
        bool operator==(const Iterator&) const = default;

      private:
        JsonIn at_;
    };

    explicit JsonArray(const JsonIn& array) : array_(array) {}
    std::size_t size() const;  // at most 2^24 - 1
    Iterator begin() const;
    Iterator end() const;

  private:
    JsonIn array_;
};

struct JsonMember {
    std::string_view key;
    JsonIn value;
};

class JsonObject {
  public:
    class Iterator {
      public:
        explicit Iterator(const JsonIn& at) : at_(at) {}
        JsonMember operator*() const;
        Iterator& operator++();
        bool operator==(const Iterator&) const = default;

      private:
        JsonIn at_;
    };

    explicit JsonObject(const JsonIn& object) : object_(object) {}
    std::size_t size() const;  // at most 2^24 - 1
    Iterator begin() const;
    Iterator end() const;
    std::optional<JsonIn> find(std::string_view key) const;

  private:
    JsonIn object_;
};

// The integer that the number stands for: 1.0 and 1e0 are 1. pandas writes an integer column that
// has a gap as 1.0. nullopt for any other value, and for a fraction beyond 2^53.
[[nodiscard]] std::optional<std::int64_t> whole_number(const JsonIn& value);

// The value without white space. Numbers are printed as the parser read them, and integers beyond
// 64 bits digit by digit.
[[nodiscard]] std::string minified(const JsonIn& value);

// Appends the value without white space. A string is escaped as by append_json_string().
void append_value(std::string& to, const JsonIn& value);

// A canonical text: equal for equal JSON (sorted keys, no white space, 5 for 5.0). For comparing
// requests with the same Idempotency-Key.
[[nodiscard]] std::string canonical_json(const JsonIn& value);

}  // namespace muster::json
