// The attribute registry of an organization (specification 2.2) and the judging of values against
// it. Staging takes any flat object; the dry run, the commit and POST /v1/users judge.
#pragma once

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

// 1..64 characters: [a-z][a-z0-9_]* parts joined by dots.
[[nodiscard]] bool is_attribute_key(std::string_view key);

struct Attribute {
    std::string key;
    std::string label;
    AttributeType type = AttributeType::Text;
    std::vector<std::string> choices;  // of the two choice types
    bool enabled = false;

    bool operator==(const Attribute&) const = default;
};

enum class AttributeVerdict : std::uint8_t { Good, UnknownKey, InvalidValue };

// An attribute value, told by its JSON type; the text of a string or a number as it stood.
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

    // The enabled attribute of that key, or nullptr.
    const Attribute* find(std::string_view key) const;
    // Disabled ones too, in the order given.
    const std::vector<Attribute>& all() const { return attributes_; }

    // text: string; number: JSON number; date: "YYYY-MM-DD" of a real day; boolean: true/false;
    // single_choice: a string of the choices; multi_choice: an array of distinct choices (may be
    // empty).
    [[nodiscard]] AttributeVerdict judge(std::string_view key, const AttributeValue& value) const;

  private:
    std::vector<Attribute> attributes_;
    std::map<std::string, std::size_t, std::less<>> enabled_;
};

// The worst verdict over a row's attributes, and the key it fell on.
struct AttributesVerdict {
    AttributeVerdict verdict = AttributeVerdict::Good;
    std::string key;
};

// Judges a normalised attributes object (JSON text, "" = none) in its order; the first fault
// counts. `json` that is no flat object, or says a key twice (the database's content is not
// trusted either): InvalidValue, key "".
[[nodiscard]] AttributesVerdict validate_attributes(const AttributeRegistry& registry,
                                                    std::string_view json);
// The same, with every fault; empty: all good.
[[nodiscard]] std::vector<AttributesVerdict> validate_all_attributes(
    const AttributeRegistry& registry, std::string_view json);

// The same for changes, where null clears a key: clearing asks for a known key only.
[[nodiscard]] std::vector<AttributesVerdict> validate_changes(const AttributeRegistry& registry,
                                                              std::string_view json);

enum class Provenance : std::uint8_t { Import, Api };

// The document of a member row made from a normalised attributes object:
// {"key":[value,"import",ms],…}.
// "" gives "{}". Only for an object that validate_attributes() found good.
[[nodiscard]] std::string attribute_document(std::string_view json, Provenance provenance,
                                             Timestamp when);
// Whether filling `stored`'s gaps from `document` would change it: it lacks a key. True for a
// `stored` that is no document, so that the writing is tried and the fault comes to light.
[[nodiscard]] bool fills_gap(std::string_view document, std::string_view stored);
// `stored` after the changes of a normalised attributes object in which null clears a key; nullopt
// when that changes nothing. Values that stay keep their provenance and time. Only for changes that
// validate_changes() found good. Throws std::invalid_argument for a `stored` that is no document.
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
// All of a document, by key. Throws std::invalid_argument for one that is none.
[[nodiscard]] std::vector<AttributeEntry> attribute_entries(std::string_view document);

// The JSON Schema of an attribute's value; its registered type says which of these it is.
[[nodiscard]] Json::Value attribute_value_schema();

// The other way: {"key": value, …} for the API. A document that is none gives "{}".
[[nodiscard]] std::string attribute_values(std::string_view document);

// An attribute as one organization's registry holds it.
struct AttributeRecord {
    AttributeId id;
    Attribute attribute;
    Timestamp created_at;
    Timestamp updated_at;
};

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
