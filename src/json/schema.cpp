#include "json/schema.hpp"

#include "base/email.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "rules/content/html_sanitizer.hpp"
#include "rules/origins.hpp"

#include <algorithm>

namespace muster::json {
namespace {

constexpr std::size_t kMostAttributes = 100;
constexpr std::size_t kMostValueBytes = 4096;
constexpr std::size_t kMostKeyCharacters = 64;
constexpr std::size_t kShownKey = 64;

bool is_scalar(const JsonIn& value) {
    return value.is_string() || value.is_number() || value.is_bool();
}

bool is_flat(const JsonIn& value) {
    if (!value.is_array()) return is_scalar(value);
    for (const JsonIn entry : entries_of(value)) {
        if (!is_scalar(entry)) return false;
    }
    return true;
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
    if (value.is_string()) {
        append_json_string(json, std::string_view(value.get_string()));
    } else {
        json = simdjson::minify(value);
    }
    if (json.size() > kMostValueBytes) return FieldCode::TooLong;
    return std::nullopt;
}

bool is_absent(const JsonIn& value) {
    return value.is_null() || (value.is_string() && std::string_view(value.get_string()).empty());
}

// What a null or "" among attributes means.
enum class Absent : std::uint8_t { LeftOut, Null };

void decode_attributes(const JsonIn& in, const Path& path, Decoding& to, Absent absent,
                       std::string& out) {
    simdjson::dom::object object;
    if (in.get_object().get(object)) return to.fault(path, FieldCode::WrongType);
    if (object.size() > kMostAttributes) return to.fault(path, FieldCode::TooLong);
    std::string json;
    for (const auto& [key, value] : object) {
        const bool is_null = is_absent(value);
        if (is_null && absent == Absent::LeftOut) continue;
        if (const auto fault = is_null ? key_fault(key) : attribute_fault(key, value, json)) {
            to.fault(Path(path, key), *fault);
            continue;
        }
        out += out.empty() ? '{' : ',';
        append_json_string(out, key);
        out += ':';
        out += is_null ? "null" : json;
    }
    if (!out.empty()) out += '}';
}

const rules::CoreFieldEntry* core_entry(std::string_view key) {
    for (const auto& entry : rules::kCoreFields) {
        if (entry.name == key) return &entry;
    }
    return nullptr;
}

void decode_core(const rules::CoreFieldEntry& entry, const JsonIn& value, const Path& path,
                 Decoding& to, std::string& field) {
    std::string_view text;
    if (value.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    field.assign(text);
    if (const auto fault = rules::normalise(entry.field, field, to.today)) to.fault(path, *fault);
}

Json::Value typed(const char* type) {
    Json::Value schema;
    schema["type"] = type;
    return schema;
}

}  // namespace

std::string Path::text() const {
    if (!parent_) return {};
    std::string text = parent_->text();
    if (name_.data() == nullptr) return text + "[" + std::to_string(index_) + "]";
    if (!text.empty()) text += '.';
    // A caller's own key is shown back to it, but not at any length.
    std::string_view shown = name_.substr(0, kShownKey);
    while (!is_utf8(shown)) shown.remove_suffix(1);
    return text += shown;
}

void refuse_fields(const Faults& faults) {
    throw Error(ErrorCode::ValidationError).fields(faults);
}

void Text::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    text = trimmed(text);
    const std::size_t length = utf8_length(text);
    if (length < min) return to.fault(path, min == 1 ? FieldCode::Required : FieldCode::TooShort);
    if (length > max) return to.fault(path, FieldCode::TooLong);
    if (has_control(text)) return to.fault(path, FieldCode::InvalidValue);
    out = text;
}

Json::Value Text::schema() const {
    Json::Value schema = typed("string");
    if (min > 0) schema["minLength"] = Json::UInt64(min);
    schema["maxLength"] = Json::UInt64(max);
    return schema;
}

void AnyObject::decode(const JsonIn& in, const Path& path, Decoding& to, RawJson& out) const {
    if (!in.is_object()) return to.fault(path, FieldCode::WrongType);
    std::string json = simdjson::minify(in);
    if (json.size() > most_bytes) return to.fault(path, FieldCode::TooLong);
    out.text = std::move(json);
}

Json::Value AnyObject::schema() const {
    return typed("object");
}

void AnyJson::decode(const JsonIn& in, const Path&, Decoding&, RawJson& out) const {
    out.text = simdjson::minify(in);
}

Json::Value AnyJson::schema() const {
    return {Json::objectValue};
}

void Slug::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    if (!is_one(text)) return to.fault(path, FieldCode::InvalidValue);
    out = text;
}

Json::Value Slug::schema() const {
    Json::Value schema = JsonType<std::string>::typed("string");
    schema["pattern"] = std::string(pattern);
    return schema;
}

void Html::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    out = rules::sanitized_html(text);
    if (out.size() > most_bytes) to.fault(path, FieldCode::TooLong);
}

Json::Value Html::schema() const {
    Json::Value schema = typed("string");
    schema["contentMediaType"] = "text/html";
    return schema;
}

void HttpsUrl::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    text = trimmed(text);
    if (text.size() > max) return to.fault(path, FieldCode::TooLong);
    const bool is_visible =
        std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!is_visible || !text.starts_with("https://") || !rules::origin_of_url(text)) {
        return to.fault(path, FieldCode::InvalidUrl);
    }
    out = text;
}

Json::Value HttpsUrl::schema() const {
    Json::Value schema = typed("string");
    schema["format"] = "uri";
    schema["maxLength"] = Json::UInt64(max);
    return schema;
}

void Integer::decode(const JsonIn& in, const Path& path, Decoding& to, std::int64_t& out) const {
    std::int64_t value = 0;
    const auto error = in.get_int64().get(value);
    const bool too_large = in.is_uint64() && error;
    if (error && !too_large) return to.fault(path, FieldCode::WrongType);
    if (too_large || value < min || value > max) return to.fault(path, FieldCode::OutOfRange);
    out = value;
}

Json::Value Integer::schema() const {
    Json::Value schema = typed("integer");
    schema["minimum"] = Json::Int64(min);
    schema["maximum"] = Json::Int64(max);
    return schema;
}

void Boolean::decode(const JsonIn& in, const Path& path, Decoding& to, bool& out) const {
    if (in.get_bool().get(out)) to.fault(path, FieldCode::WrongType);
}

Json::Value Boolean::schema() const {
    return typed("boolean");
}

void Email::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    out.assign(text);
    if (const auto fault = normalise_email(out)) {
        to.fault(path, *fault);
    }
}

Json::Value Email::schema() const {
    Json::Value schema = typed("string");
    schema["format"] = "email";
    schema["maxLength"] = 254;
    return schema;
}

void Digits::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    out = trimmed(text);
    if (out.size() < count) return to.fault(path, FieldCode::TooShort);
    if (out.size() > count) return to.fault(path, FieldCode::TooLong);
    if (out.find_first_not_of("0123456789") != std::string::npos) {
        to.fault(path, FieldCode::InvalidValue);
    }
}

Json::Value Digits::schema() const {
    Json::Value schema = typed("string");
    schema["pattern"] = "^[0-9]{" + std::to_string(count) + "}$";
    return schema;
}

void Instant::decode(const JsonIn& in, const Path& path, Decoding& to, Timestamp& out) const {
    std::string_view text;
    if (in.get_string().get(text)) return to.fault(path, FieldCode::WrongType);
    const auto when = Timestamp::parse(text);
    if (!when) return to.fault(path, FieldCode::InvalidTimestamp);
    out = *when;
}

Json::Value Instant::schema() const {
    Json::Value schema = typed("string");
    schema["format"] = "date-time";
    return schema;
}

void MemberPayload::decode(const JsonIn& in, const Path& path, Decoding& to,
                           rules::MemberFields& out) const {
    simdjson::dom::object object;
    if (in.get_object().get(object)) return to.fault(path, FieldCode::WrongType);
    bool has_email = false;
    for (const auto& [key, value] : object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (!entry && key != "attributes") {
            to.fault(at, FieldCode::UnknownField);
        } else if (value.is_null()) {
            continue;
        } else if (!entry) {
            decode_attributes(value, at, to, Absent::LeftOut, out.attributes);
        } else {
            has_email |= entry->field == rules::CoreField::Email;
            decode_core(*entry, value, at, to, out.*entry->sent);
        }
    }
    if (!has_email) to.fault(Path(path, "email"), FieldCode::Required);
}

void MemberPatch::decode(const JsonIn& in, const Path& path, Decoding& to,
                         rules::MemberPatch& out) const {
    simdjson::dom::object object;
    if (in.get_object().get(object)) return to.fault(path, FieldCode::WrongType);
    for (const auto& [key, value] : object) {
        const Path at(path, key);
        const auto* entry = core_entry(key);
        if (key == "attributes") {
            decode_attributes(value, at, to, Absent::Null, out.attributes);
        } else if (!entry || entry->field == rules::CoreField::Email) {
            to.fault(at, FieldCode::UnknownField);
        } else {
            const auto place = static_cast<std::size_t>(entry - &rules::kCoreFields[1]);
            std::string& text = out.texts.at(place).emplace();
            if (!value.is_null()) decode_core(*entry, value, at, to, text);
        }
    }
}

Json::Value MemberPatch::schema() const {
    Json::Value schema = member_payload_schema();
    schema.removeMember("required");
    schema["properties"].removeMember("email");
    schema["properties"]["attributes"]["type"] = "object";
    return schema;
}

Json::Value member_payload_schema() {
    Json::Value schema = typed("object");
    schema["additionalProperties"] = false;
    schema["required"].append("email");
    for (const auto& entry : rules::kCoreFields) {
        Json::Value& property = schema["properties"][std::string(entry.name)];
        property["type"].append("string");
        if (entry.field != rules::CoreField::Email) property["type"].append("null");
        property["maxLength"] = Json::UInt64(entry.max_length);
    }
    Json::Value& attributes = schema["properties"]["attributes"];
    attributes["type"].append("object");
    attributes["type"].append("null");
    attributes["maxProperties"] = Json::UInt64(kMostAttributes);
    return schema;
}

Json::Value MemberPayload::schema() const {
    Json::Value schema;
    schema["$ref"] = "#/components/schemas/MemberPayload";
    return schema;
}

}  // namespace muster::json
