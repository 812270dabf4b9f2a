#include "rules/members/payload.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
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
constexpr std::string_view kAttributes = "attributes";

// Appends a scalar, with a trimmed and composed string. Returns false for another value.
bool append_scalar(std::string& to, const JsonIn& value) {
    if (const auto text = value.string()) {
        std::string whole;
        append_json_string(to, composed(trimmed(*text), whole));
        return true;
    }
    if (!value.is_number() && !value.is_boolean()) return false;
    append_value(to, value);
    return true;
}

// Appends a scalar or a list of scalars. Returns false for another value, which it may have
// appended in part.
bool append_flat(std::string& to, const JsonIn& value) {
    if (append_scalar(to, value)) return true;
    const auto entries = value.array();
    if (!entries) return false;
    to += '[';
    bool is_first = true;
    for (const JsonIn& entry : *entries) {
        if (!is_first) to += ',';
        is_first = false;
        if (!append_scalar(to, entry)) return false;
    }
    to += ']';
    return true;
}

bool is_long(std::string_view key) {
    return key.size() > kMostKeyCharacters && utf8_length(key) > kMostKeyCharacters;
}

bool is_absent(const JsonIn& value) {
    const auto text = value.string();
    return text ? trimmed(*text).empty() : value.is_null();
}

// How a null or "" value among attributes is treated.
enum class Absent : std::uint8_t { LeftOut, Null };

struct AttributeFault {
    FieldCode code;
    FieldLimits limits;
};

// Appends `"key":value`, or null for an absent value. After a fault, the end of `to` is undefined.
std::optional<AttributeFault> append_attribute(std::string& to, std::string_view key,
                                               const JsonIn& value, bool is_null) {
    if (is_long(key)) return AttributeFault{FieldCode::TooLong, longest(kMostKeyCharacters)};
    append_json_string(to, key);
    to += ':';
    const std::size_t begin = to.size();
    if (is_null) {
        to += "null";
    } else if (!append_flat(to, value)) {
        return AttributeFault{FieldCode::WrongType, {}};
    }
    if (to.size() - begin <= kMostValueBytes) return std::nullopt;
    return AttributeFault{FieldCode::TooLong, longest(kMostValueBytes)};
}

void decode_attributes(const JsonIn& in, const Path& path, Decoding& to, Absent absent,
                       std::string& out) {
    const auto object = to.object(in, path);
    if (!object) return;
    if (object->size() > kMostAttributes) {
        return to.fault(path, FieldCode::TooLong, longest(kMostAttributes));
    }
    std::string& text = to.scratch;
    text.clear();
    for (const auto& [key, value] : *object) {
        const bool is_null = is_absent(value);
        if (is_null && absent == Absent::LeftOut) continue;
        const std::size_t before = text.size();
        text += text.empty() ? '{' : ',';
        if (auto fault = append_attribute(text, key, value, is_null)) {
            text.resize(before);
            to.fault(Path(path, key), fault->code, std::move(fault->limits));
        }
    }
    if (!text.empty()) text += '}';
    out = text;
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
    std::optional<JsonIn> attributes;  // decoded last: the faults of core fields come first
    for (const auto& [key, value] : *object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (!entry && key != kAttributes) {
            to.fault(at, FieldCode::UnknownField);
        } else if (value.is_null()) {
            continue;
        } else if (!entry) {
            attributes = value;
        } else {
            has_email |= entry->field == CoreField::Email;
            decode_core(*entry, value, at, to, out.*entry->sent);
        }
    }
    if (!has_email) to.fault(Path(path, "email"), FieldCode::Required);
    if (!attributes) return;
    decode_attributes(*attributes, Path(path, kAttributes), to, Absent::LeftOut, out.attributes);
}

void MemberPatchPayload::decode(const JsonIn& in, const Path& path, Decoding& to,
                                MemberPatch& out) const {
    const auto object = to.object(in, path);
    if (!object) return;
    for (const auto& [key, value] : *object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (key == kAttributes && value.is_null()) {
            to.fault(at, FieldCode::Required);
        } else if (key == kAttributes) {
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
    schema["properties"][std::string(kAttributes)] = attributes_schema();
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
        if (entry.field == CoreField::Email) {
            property["minLength"] = 1;
        } else {
            property = or_null(property);
        }
        schema["properties"][std::string(entry.name)] =
            described(std::move(property), entry.meaning, entry.example);
    }
    schema["properties"][std::string(kAttributes)] = or_null(attributes_schema());
    return schema;
}

}  // namespace muster::rules
