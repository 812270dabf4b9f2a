// The attribute registry, and attributes as JSON. It validates staged objects and converts them to
// the documents of member rows, up to 250,000 times per import, so buffers are reused.
#include "rules/attributes.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/record.hpp"
#include "json/json_body.hpp"
#include "json/json_source.hpp"
#include "rules/numbers.hpp"

#include <json/value.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <stdexcept>

namespace muster::rules {
namespace {

using json::JsonIn;
using json::JsonKind;
using json::JsonObject;

// Stored JSON may contain a key twice; the parser accepts that.
bool has_duplicate_key(const JsonObject& object) {
    thread_local std::vector<std::string_view> keys;
    keys.clear();
    for (const auto& [key, value] : object) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

// Parses `json` as an object, which is valid until the next call.
std::optional<JsonObject> parse_object(std::string_view json) {
    thread_local json::JsonParser parser;
    auto object = parser.parse_object(json);
    if (object && has_duplicate_key(*object)) object.reset();
    return object;
}

// False if an entry is not a string.
bool gather_strings(const JsonIn& value, std::vector<std::string_view>& to) {
    const auto entries = value.array();
    for (const JsonIn& entry : *entries) {
        const auto text = entry.string();
        if (!text) return false;
        to.push_back(*text);
    }
    return true;
}

// Reads the value. `to` is reused to keep its vector's memory.
void read_value(const JsonIn& value, AttributeValue& to) {
    using Kind = AttributeValue::Kind;
    to.kind = Kind::Other;
    to.strings.clear();
    switch (value.kind()) {
        case JsonKind::String:
            to.text = *value.string();
            to.kind = Kind::String;
            return;
        case JsonKind::Boolean:
            to.kind = Kind::Boolean;
            return;
        case JsonKind::Signed:
        case JsonKind::Unsigned:
        case JsonKind::Double:
        case JsonKind::Large:
            to.kind = Kind::Number;
            return;
        case JsonKind::Array:
            if (!gather_strings(value, to.strings)) return;
            to.kind = Kind::StringArray;
            return;
        case JsonKind::Object:
        case JsonKind::Null:
            return;
    }
}

bool is_choice(const Attribute& attribute, std::string_view text) {
    return std::find(attribute.choices.begin(), attribute.choices.end(), text) !=
           attribute.choices.end();
}

bool are_distinct_choices(const Attribute& attribute, std::vector<std::string_view> texts) {
    constexpr std::size_t kFew = 32;  // fewer comparisons than sorting all choices
    if (texts.size() > attribute.choices.size()) return false;
    std::sort(texts.begin(), texts.end());
    if (std::adjacent_find(texts.begin(), texts.end()) != texts.end()) return false;
    if (texts.size() <= kFew) {
        return std::all_of(texts.begin(), texts.end(),
                           [&](std::string_view text) { return is_choice(attribute, text); });
    }
    std::vector<std::string_view> choices(attribute.choices.begin(), attribute.choices.end());
    std::sort(choices.begin(), choices.end());
    return std::includes(choices.begin(), choices.end(), texts.begin(), texts.end());
}

bool is_valid(const Attribute& attribute, const AttributeValue& value) {
    using Kind = AttributeValue::Kind;
    switch (attribute.type) {
        case AttributeType::Text:
            return value.kind == Kind::String;
        case AttributeType::Number:
            return value.kind == Kind::Number;
        case AttributeType::Date:
            return value.kind == Kind::String && Date::parse(value.text).has_value();
        case AttributeType::Boolean:
            return value.kind == Kind::Boolean;
        case AttributeType::SingleChoice:
            return value.kind == Kind::String && is_choice(attribute, value.text);
        case AttributeType::MultiChoice:
            return value.kind == Kind::StringArray &&
                   are_distinct_choices(attribute, value.strings);
    }
    return false;
}

// The value of an entry [value, provenance, milliseconds] of a member row's document, or nullopt.
std::optional<JsonIn> value_of_entry(const JsonIn& entry) {
    const auto parts = entry.array();
    if (!parts || parts->size() != 3) return std::nullopt;
    auto part = parts->begin();
    const JsonIn value = *part;
    if (!(*++part).is_string() || !(*++part).integer()) return std::nullopt;
    return value;
}

// Whether null is validated like any other value, or clears the attribute.
enum class Nulls : std::uint8_t { Validate, Clear };

// Calls `found(result)` for each invalid attribute in the object's order, until it returns false.
template <class Found>
void for_each_fault(const AttributeRegistry& registry, std::string_view json, Nulls nulls,
                    const Found& found) {
    if (json.empty()) return;
    const auto object = parse_object(json);
    if (!object) {
        found(AttributesResult{AttributeResult::InvalidValue, ""});
        return;
    }
    AttributeValue read;
    for (const auto& [key, value] : *object) {
        AttributesResult fault;
        if (value.is_object()) {
            fault = {AttributeResult::InvalidValue, ""};
        } else if (nulls == Nulls::Clear && value.is_null()) {
            if (registry.find(key)) continue;
            fault = {AttributeResult::UnknownKey, std::string(key)};
        } else {
            read_value(value, read);
            fault.result = registry.check(key, read);
            if (fault.result == AttributeResult::Good) continue;
            fault.key = key;
        }
        if (!found(std::move(fault))) return;
    }
}

std::vector<AttributesResult> all_faults(const AttributeRegistry& registry, std::string_view json,
                                         Nulls nulls) {
    std::vector<AttributesResult> faults;
    for_each_fault(registry, json, nulls, [&](AttributesResult fault) {
        faults.push_back(std::move(fault));
        return true;
    });
    return faults;
}

// ---------------------------------------------------------------------------- documents

[[noreturn]] void reject_document() {
    throw std::invalid_argument("a member's attributes are not a document");
}

AttributeEntry entry_of(std::string_view key, const JsonIn& stored) {
    AttributeEntry entry;
    const auto parts = stored.array();
    if (!parts || parts->size() != 3) reject_document();
    auto part = parts->begin();
    json::append_value(entry.value, *part);
    const auto provenance = parse<Provenance>((*++part).string().value_or(""));
    const auto when = (*++part).integer();
    if (!provenance || !when) reject_document();
    entry.key = key;
    entry.provenance = *provenance;
    entry.updated_at = Timestamp(*when);
    return entry;
}

// Numbers are compared by value, because a number has several spellings.
bool is_same_value(const std::string& stored, const std::string& sent) {
    return stored == sent || is_same_number(stored, sent);
}

// Sets one value of a member, or removes it if the value is "null". Returns false if nothing
// changed.
bool apply(std::vector<AttributeEntry>& entries, AttributeEntry change) {
    const auto place = std::lower_bound(
        entries.begin(), entries.end(), change.key,
        [](const AttributeEntry& entry, const std::string& key) { return entry.key < key; });
    const bool exists = place != entries.end() && place->key == change.key;
    if (change.value == "null") {
        if (exists) entries.erase(place);
        return exists;
    }
    if (!exists) {
        entries.insert(place, std::move(change));
        return true;
    }
    if (is_same_value(place->value, change.value)) return false;
    *place = std::move(change);
    return true;
}

}  // namespace

bool is_attribute_key(std::string_view key) {
    constexpr std::size_t kLongest = 64;
    if (key.empty() || key.size() > kLongest) return false;
    bool starts_part = true;
    for (const char c : key) {
        const bool letter = c >= 'a' && c <= 'z';
        const bool later = (c >= '0' && c <= '9') || c == '_' || c == '.';
        if (!letter && (starts_part || !later)) return false;
        starts_part = c == '.';
    }
    return !starts_part;
}

AttributeRegistry::AttributeRegistry(std::vector<Attribute> attributes)
    : attributes_(std::move(attributes)) {
    for (std::size_t i = 0; i < attributes_.size(); ++i) {
        if (attributes_[i].enabled) enabled_.emplace(attributes_[i].key, i);
    }
}

const Attribute* AttributeRegistry::find(std::string_view key) const {
    const auto found = enabled_.find(key);
    return found == enabled_.end() ? nullptr : &attributes_[found->second];
}

std::vector<std::string> AttributeRegistry::enabled_keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, index] : enabled_) keys.push_back(key);
    return keys;
}

FieldLimits value_limits(const Attribute& attribute) {
    switch (attribute.type) {
        case AttributeType::Boolean:
            return {.allowed = {"true", "false"}};
        case AttributeType::SingleChoice:
        case AttributeType::MultiChoice:
            return {.allowed = attribute.choices};
        case AttributeType::Date:
            return {.format = "date"};
        case AttributeType::Number:
            return {.format = "number"};
        case AttributeType::Text:
            return {.format = "string"};
    }
    return {};
}

AttributeResult AttributeRegistry::check(std::string_view key, const AttributeValue& value) const {
    const Attribute* attribute = find(key);
    if (!attribute) return AttributeResult::UnknownKey;
    return is_valid(*attribute, value) ? AttributeResult::Good : AttributeResult::InvalidValue;
}

AttributesResult validate_attributes(const AttributeRegistry& registry, std::string_view json) {
    AttributesResult first;
    for_each_fault(registry, json, Nulls::Validate, [&](AttributesResult fault) {
        first = std::move(fault);
        return false;
    });
    return first;
}

std::vector<AttributesResult> validate_all_attributes(const AttributeRegistry& registry,
                                                      std::string_view json) {
    return all_faults(registry, json, Nulls::Validate);
}

std::vector<AttributesResult> validate_changes(const AttributeRegistry& registry,
                                               std::string_view json) {
    return all_faults(registry, json, Nulls::Clear);
}

std::string attribute_document(std::string_view json, Provenance provenance, Timestamp when) {
    const auto object = json.empty() ? std::nullopt : parse_object(json);
    if (!object) return "{}";
    std::array<char, 24> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), when.milliseconds()).ptr;
    std::string tail = ",\"";
    tail.append(text_of(provenance)).append("\",").append(digits.data(), end).append("]");

    std::string document;
    document.reserve(json.size() + object->size() * (tail.size() + 1));
    document += '{';
    for (const auto& [key, value] : *object) {
        if (document.size() > 1) document += ',';
        append_json_string(document, key);
        document += ":[";
        json::append_value(document, value);
        document += tail;
    }
    document += '}';
    return document;
}

std::vector<std::string> attribute_keys(std::string_view json) {
    std::vector<std::string> keys;
    const auto object = json.empty() ? std::nullopt : parse_object(json);
    if (!object) return keys;
    for (const auto& [key, value] : *object) keys.emplace_back(key);
    return keys;
}

std::vector<bool> lacking_keys(std::string_view document, std::string_view stored) {
    const auto keys = attribute_keys(document);  // parsing `stored` overwrites the parser's buffers
    std::vector<bool> lacking(keys.size(), true);
    const auto old = parse_object(stored);
    if (!old) return lacking;
    std::transform(keys.begin(), keys.end(), lacking.begin(),
                   [&](const std::string& key) { return !old->find(key); });
    return lacking;
}

std::string lacking_part(std::string_view document, const std::vector<bool>& lacking) {
    if (std::ranges::all_of(lacking, std::identity())) return std::string(document);
    std::string part = "{";
    auto is_lacking = lacking.begin();
    const auto object = parse_object(document);
    if (!object) reject_document();
    for (const auto& [key, entry] : *object) {
        if (!*is_lacking++) continue;
        if (part.size() > 1) part += ',';
        append_json_string(part, key);
        part += ':';
        json::append_value(part, entry);
    }
    return part + "}";
}

bool fills_gap(std::string_view document, std::string_view stored) {
    const auto lacking = lacking_keys(document, stored);
    return std::find(lacking.begin(), lacking.end(), true) != lacking.end();
}

std::vector<AttributeEntry> attribute_entries(std::string_view document) {
    const auto object = parse_object(document);
    if (!object) reject_document();
    std::vector<AttributeEntry> entries;
    for (const auto& [key, stored] : *object) entries.push_back(entry_of(key, stored));
    std::sort(entries.begin(), entries.end(),
              [](const AttributeEntry& left, const AttributeEntry& right) {
                  return left.key < right.key;
              });
    return entries;
}

std::string attribute_document(const std::vector<AttributeEntry>& entries) {
    std::string document;
    JsonWriter to(document);
    to.begin_object();
    for (const AttributeEntry& entry : entries) {
        to.key(entry.key);
        to.begin_array();
        to.raw(entry.value);
        to.string(text_of(entry.provenance));
        to.number(entry.updated_at.milliseconds());
        to.end_array();
    }
    to.end_object();
    return document;
}

std::optional<std::string> changed_document(std::string_view stored, std::string_view changes,
                                            Provenance provenance, Timestamp when) {
    auto entries = attribute_entries(stored);  // before `changes`, because both use the same parser
    const auto object = changes.empty() ? std::nullopt : parse_object(changes);
    if (!object) return std::nullopt;
    bool is_changed = false;
    for (const auto& [key, value] : *object) {
        AttributeEntry change{std::string(key), "", provenance, when};
        json::append_value(change.value, value);
        is_changed |= apply(entries, std::move(change));
    }
    if (!is_changed) return std::nullopt;
    return attribute_document(entries);
}

std::string attribute_values(std::string_view document) {
    const auto object = parse_object(document);
    if (!object) return "{}";
    std::string values;
    values.reserve(document.size());
    values += '{';
    for (const auto& [key, entry] : *object) {
        const auto value = value_of_entry(entry);
        if (!value) return "{}";
        if (values.size() > 1) values += ',';
        append_json_string(values, key);
        values += ':';
        json::append_value(values, *value);
    }
    values += '}';
    return values;
}

std::optional<std::vector<WrittenValue>> written_values(std::string_view json) {
    try {
        const json::JsonBody body(json);
        const auto object = body.root().object();
        if (!object) return std::nullopt;
        const auto texts = json::entries_as_sent(json);
        std::vector<WrittenValue> values;
        std::size_t index = 0;
        for (const auto& [key, value] : *object) {
            const std::string_view text = texts.at(index++);
            if (!value.is_null()) values.push_back({std::string(key), json::compact_json(text)});
        }
        return values;
    } catch (const Error&) {
        return std::nullopt;
    }
}

// anyOf instead of a list of types: generators of clients make a union of it.
Json::Value attribute_value_schema() {
    Json::Value scalars;
    for (const char* type : {"string", "number", "boolean"}) {
        scalars["anyOf"].append(JsonType<std::string>::typed(type));
    }
    Json::Value schema = scalars;
    schema["title"] = "AttributeValue";
    schema["anyOf"].append(array_of_schema(std::move(scalars)));
    return schema;
}

std::string stored_value(std::string_view document, std::string_view key) {
    json::JsonParser parser;
    const auto object = parser.parse_object(document);
    const auto entry = object ? object->find(key) : std::nullopt;
    const auto parts = entry ? entry->array() : std::nullopt;
    if (!parts || parts->size() == 0) return "";
    return json::minified(*parts->begin());
}

}  // namespace muster::rules
