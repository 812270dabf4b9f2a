// A parsed JSON value. It hides the parser (simdjson): only json/*.cpp compile its header.
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
    Unsigned = 'u',  // a whole number above 2^63 - 1
    Double = 'd',
    String = '"',
    Array = '[',
    Object = '{',
};

// A view into a document: valid as long as the document. Each accessor is nullopt for another kind.
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
        return is == JsonKind::Signed || is == JsonKind::Unsigned || is == JsonKind::Double;
    }

    std::optional<std::string_view> string() const;
    std::optional<bool> boolean() const;
    std::optional<std::int64_t> integer() const;
    std::optional<double> number() const;
    std::optional<JsonArray> array() const;
    std::optional<JsonObject> object() const;
    // An object's member; nullopt for any other kind too.
    std::optional<JsonIn> member(std::string_view key) const;

    bool operator==(const JsonIn&) const = default;

  private:
    // The memory of a simdjson::dom::element; json_in.cpp asserts that they are alike.
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

// Without white space; numbers as the parser understood them.
[[nodiscard]] std::string minified(const JsonIn& value);

// The same behind `to`, save that a string is escaped as append_json_string() does.
void append_value(std::string& to, const JsonIn& value);

// A text that is equal for equal JSON (keys sorted, no white space), for the idempotency
// comparison.
[[nodiscard]] std::string canonical_json(const JsonIn& value);

}  // namespace muster::json
