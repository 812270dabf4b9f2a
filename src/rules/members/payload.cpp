#include "rules/members/payload.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "rules/attributes.hpp"
#include "rules/members/core_fields.hpp"

namespace muster::rules {
namespace {

using json::Decoding;
using json::JsonIn;
using json::Path;

constexpr std::size_t kMostAttributes = 100;
constexpr std::size_t kMostValueBytes = 4096;
constexpr std::size_t kMostKeyCharacters = 64;

bool is_scalar(const JsonIn& value) {
    return value.is_string() || value.is_number() || value.is_boolean();
}

bool is_flat(const JsonIn& value) {
    const auto entries = value.array();
    if (!entries) return is_scalar(value);
    for (const JsonIn& entry : *entries) {
        if (!is_scalar(entry)) return false;
    }
    return true;
}

// Appends a scalar or a list of scalars, with trimmed strings.
void append_trimmed(std::string& to, const JsonIn& value) {
    const auto entries = value.array();
    if (!entries) {
        const auto text = value.string();
        return text ? append_json_string(to, trimmed(*text)) : append_value(to, value);
    }
    to += '[';
    bool is_first = true;
    for (const JsonIn& entry : *entries) {
        if (!is_first) to += ',';
        is_first = false;
        append_trimmed(to, entry);
    }
    to += ']';
}

std::optional<FieldCode> key_fault(std::string_view key) {
    if (utf8_length(key) > kMostKeyCharacters) return FieldCode::TooLong;
    return std::nullopt;
}

std::optional<FieldCode> attribute_fault(std::string_view key, const JsonIn& value,
                                         std::string& json) {
    if (const auto fault = key_fault(key)) return fault;
    if (!is_flat(value)) return FieldCode::WrongType;
    json.clear();
    append_trimmed(json, value);
    if (json.size() > kMostValueBytes) return FieldCode::TooLong;
    return std::nullopt;
}

bool is_absent(const JsonIn& value) {
    const auto text = value.string();
    return value.is_null() || (text && trimmed(*text).empty());
}

// How a null or "" value among attributes is treated.
enum class Absent : std::uint8_t { LeftOut, Null };

void decode_attributes(const JsonIn& in, const Path& path, Decoding& to, Absent absent,
                       std::string& out) {
    const auto object = to.object(in, path);
    if (!object) return;
    if (object->size() > kMostAttributes) {
        return to.fault(path, FieldCode::TooLong, longest(kMostAttributes));
    }
    std::string json;
    for (const auto& [key, value] : *object) {
        const bool is_null = is_absent(value);
        if (is_null && absent == Absent::LeftOut) continue;
        if (const auto fault = is_null ? key_fault(key) : attribute_fault(key, value, json)) {
            const bool is_key = key_fault(key).has_value();
            to.fault(Path(path, key), *fault,
                     *fault != FieldCode::TooLong
                         ? FieldLimits{}
                         : longest(is_key ? kMostKeyCharacters : kMostValueBytes));
            continue;
        }
        out += out.empty() ? '{' : ',';
        append_json_string(out, key);
        out += ':';
        out += is_null ? "null" : json;
    }
    if (!out.empty()) out += '}';
}

const CoreFieldEntry* core_entry(std::string_view key) {
    for (const auto& entry : kCoreFields) {
        if (entry.name == key) return &entry;
    }
    return nullptr;
}

void decode_core(const CoreFieldEntry& entry, const JsonIn& value, const Path& path, Decoding& to,
                 std::string& field) {
    const auto text = to.string(value, path);
    if (!text) return;
    field = *text;
    if (const auto fault = normalize(entry.field, field, to.today)) {
        to.fault(path, *fault, limits_of(entry.field, *fault));
    }
}

Json::Value attributes_schema() {
    Json::Value schema = map_of(or_null(attribute_value_schema()));
    schema["maxProperties"] = Json::UInt64(kMostAttributes);
    return described(std::move(schema),
                     "Values of registered attributes, by key. A null or empty value is left out; "
                     "in a PATCH it clears the attribute.",
                     R"({"shirt_size": "M"})");
}

}  // namespace

void MemberPayload::decode(const JsonIn& in, const Path& path, Decoding& to,
                           MemberFields& out) const {
    const auto object = to.object(in, path);
    if (!object) return;
    bool has_email = false;
    for (const auto& [key, value] : *object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (!entry && key != "attributes") {
            to.fault(at, FieldCode::UnknownField);
        } else if (value.is_null()) {
            continue;
        } else if (!entry) {
            decode_attributes(value, at, to, Absent::LeftOut, out.attributes);
        } else {
            has_email |= entry->field == CoreField::Email;
            decode_core(*entry, value, at, to, out.*entry->sent);
        }
    }
    if (!has_email) to.fault(Path(path, "email"), FieldCode::Required);
}

void MemberPatchPayload::decode(const JsonIn& in, const Path& path, Decoding& to,
                                MemberPatch& out) const {
    const auto object = to.object(in, path);
    if (!object) return;
    for (const auto& [key, value] : *object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (key == "attributes") {
            decode_attributes(value, at, to, Absent::Null, out.attributes);
        } else if (!entry || entry->field == CoreField::Email) {
            to.fault(at, FieldCode::UnknownField);
        } else {
            const auto place = static_cast<std::size_t>(entry - &kCoreFields[1]);
            std::string& text = out.texts.at(place).emplace();
            if (!value.is_null()) decode_core(*entry, value, at, to, text);
        }
    }
}

Json::Value MemberPatchPayload::schema() const {
    Json::Value schema = MemberPayload{}.schema();
    schema.removeMember("title");
    schema.removeMember("required");
    schema["properties"].removeMember("email");
    schema["properties"]["attributes"] = attributes_schema();
    return schema;
}

Json::Value MemberPayload::schema() const {
    Json::Value schema = JsonType<std::string>::typed("object");
    schema["title"] = "MemberPayload";
    schema["additionalProperties"] = false;
    schema["required"].append("email");
    for (const auto& entry : kCoreFields) {
        Json::Value property = JsonType<std::string>::typed("string");
        property["maxLength"] = Json::UInt64(entry.max_length);
        if (!entry.format.empty()) property["format"] = std::string(entry.format);
        if (entry.field != CoreField::Email) property = or_null(property);
        schema["properties"][std::string(entry.name)] =
            described(std::move(property), entry.meaning, entry.example);
    }
    schema["properties"]["attributes"] = or_null(attributes_schema());
    return schema;
}

}  // namespace muster::rules
