// The attribute registry of an organization (specification 2.2) and the validation of values.
// Staging accepts any flat object; the dry run, the commit and POST /v1/users validate the values.
#pragma once

#include "base/faults.hpp"
#include "base/ids.hpp"
#include "base/names.hpp"
#include "base/time.hpp"

#include <json/forwards.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

using muster::text_of;

enum class AttributeType : std::uint8_t { Text, Number, Date, Boolean, SingleChoice, MultiChoice };

// 1 to 64 characters: [a-z][a-z0-9_]* parts joined by dots.
[[nodiscard]] bool is_attribute_key(std::string_view key);

struct Attribute {
    std::string key;
    std::string label;
    AttributeType type = AttributeType::Text;
    std::vector<std::string> choices;  // for the two choice types
    bool enabled = false;

    bool operator==(const Attribute&) const = default;
};

enum class AttributeResult : std::uint8_t { Good, UnknownKey, InvalidValue };

// A value with its JSON type. `text` and `strings` are views into the parsed document.
struct AttributeValue {
    enum class Kind : std::uint8_t {
        String,
        Number,
        Boolean,
        StringArray,
        Other
    } kind = Kind::Other;
    std::string_view text;                  // String
    std::vector<std::string_view> strings;  // StringArray
};

class AttributeRegistry {
  public:
    AttributeRegistry() = default;
    explicit AttributeRegistry(std::vector<Attribute> attributes);

    // The enabled attribute with this key, or nullptr.
    const Attribute* find(std::string_view key) const;
    // Sorted.
    std::vector<std::string> enabled_keys() const;
    // All attributes, including disabled ones, in the given order.
    const std::vector<Attribute>& all() const { return attributes_; }

    // Valid values: text: a string; number: a JSON number; date: "YYYY-MM-DD" of an existing day;
    // boolean: true or false; single_choice: one of the choices; multi_choice: an array of distinct
    // choices, which may be empty.
    [[nodiscard]] AttributeResult check(std::string_view key, const AttributeValue& value) const;

  private:
    std::vector<Attribute> attributes_;
    std::map<std::string, std::size_t, std::less<>> enabled_;
};

// What a value of the attribute may be, for the fault of another value.
[[nodiscard]] FieldLimits value_limits(const Attribute& attribute);

// The first fault in a row's attributes and its key; Good if there is none.
struct AttributesResult {
    AttributeResult result = AttributeResult::Good;
    std::string key;
};

// Validates a normalized attributes object (JSON text, "" = none) and returns its first fault.
// InvalidValue with the key "" if `json` is not a flat object or contains a key twice; stored JSON
// is not trusted.
[[nodiscard]] AttributesResult validate_attributes(const AttributeRegistry& registry,
                                                   std::string_view json);
// The same, with all faults; empty if there are none.
[[nodiscard]] std::vector<AttributesResult> validate_all_attributes(
    const AttributeRegistry& registry, std::string_view json);

// The same for changes, in which null clears a key. Only a known key can be cleared.
[[nodiscard]] std::vector<AttributesResult> validate_changes(const AttributeRegistry& registry,
                                                             std::string_view json);

enum class Provenance : std::uint8_t { Import, Api };

// Makes the document of a member row from a normalized attributes object:
// {"key":[value,"import",ms],…}. "" gives "{}". The object must have passed validate_attributes().
[[nodiscard]] std::string attribute_document(std::string_view json, Provenance provenance,
                                             Timestamp when);
// True if `stored` lacks a key of `document`, so that filling its gaps would change it. Also true
// if `stored` is not a document: the write is then attempted and reports the fault.
[[nodiscard]] bool fills_gap(std::string_view document, std::string_view stored);
// For each key of `document` in its order: whether `stored` lacks it. All are lacking if `stored`
// is not a document.
[[nodiscard]] std::vector<bool> lacking_keys(std::string_view document, std::string_view stored);
// The entries of `document` that are lacking, as lacking_keys() gives them. `document` must be one.
[[nodiscard]] std::string lacking_part(std::string_view document, const std::vector<bool>& lacking);
// Applies a normalized attributes object to `stored`; null clears a key. Unchanged values keep
// their provenance and time. Returns nullopt if nothing changes. The changes must have passed
// validate_changes(). Throws std::invalid_argument if `stored` is not a document.
[[nodiscard]] std::optional<std::string> changed_document(std::string_view stored,
                                                          std::string_view changes,
                                                          Provenance provenance, Timestamp when);

// One value of a document.
struct AttributeEntry {
    std::string key;
    std::string value;  // JSON text
    Provenance provenance = Provenance::Import;
    Timestamp updated_at;
};
// All values of a document, sorted by key. Throws std::invalid_argument if it is not a document.
[[nodiscard]] std::vector<AttributeEntry> attribute_entries(std::string_view document);

// The document with these values, which must be sorted by key.
[[nodiscard]] std::string attribute_document(const std::vector<AttributeEntry>& entries);
// The keys of an object or a document, in its order; empty for "".
[[nodiscard]] std::vector<std::string> attribute_keys(std::string_view json);

// A value as its sender wrote it.
struct WrittenValue {
    std::string key;
    std::string value;  // compact JSON text with all digits of its numbers
};
// The values of an object that are not null, in its order; nullopt if the API does not accept the
// text (json/json_body.hpp), or if it is not an object.
[[nodiscard]] std::optional<std::vector<WrittenValue>> written_values(std::string_view json);

// The JSON Schema of any attribute's value. The registered type of the attribute restricts it
// further.
[[nodiscard]] Json::Value attribute_value_schema();

// The values of a document for the API: {"key": value, …}. "{}" if it is not a document.
[[nodiscard]] std::string attribute_values(std::string_view document);

// An attribute in an organization's registry.
struct AttributeRecord {
    AttributeId id;
    Attribute attribute;
    Timestamp created_at;
    Timestamp updated_at;
};

// The JSON of one value in a member's document; "" if the document is not valid or has no such key.
[[nodiscard]] std::string stored_value(std::string_view document, std::string_view key);

}  // namespace muster::rules

namespace muster {

template <>
inline constexpr std::array kNames<rules::AttributeType> = {
    Name{rules::AttributeType::Text, "text"},
    Name{rules::AttributeType::Number, "number"},
    Name{rules::AttributeType::Date, "date"},
    Name{rules::AttributeType::Boolean, "boolean"},
    Name{rules::AttributeType::SingleChoice, "single_choice"},
    Name{rules::AttributeType::MultiChoice, "multi_choice"}};

template <>
inline constexpr std::array kNames<rules::Provenance> = {Name{rules::Provenance::Import, "import"},
                                                         Name{rules::Provenance::Api, "api"}};

}  // namespace muster
