#include "json/schema.hpp"

#include "base/email.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"

#include <algorithm>
#include <utility>

namespace muster::json {
namespace {

constexpr std::size_t kShownKey = 64;

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
    // Shows the caller's key, truncated to kShownKey bytes.
    std::string_view shown = name_.substr(0, kShownKey);
    while (!is_utf8(shown)) shown.remove_suffix(1);
    return text += shown;
}

void refuse_fields(const Faults& faults) {
    throw Error(ErrorCode::ValidationError).fields(faults);
}

void Text::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    const auto value = to.string(in, path);
    if (!value) return;
    std::string text(trimmed(*value));
    if (is_searched) compose(text);
    const std::size_t length = utf8_length(text);
    if (length < min) {
        return to.fault(path, min == 1 ? FieldCode::Required : FieldCode::TooShort, shortest(min));
    }
    if (length > max) return to.fault(path, FieldCode::TooLong, longest(max));
    if (has_control(text)) {
        return to.faults.add(path.text(), FieldCode::InvalidValue,
                             "has a control character, such as a line break; remove it");
    }
    out = std::move(text);
}

Json::Value Text::schema() const {
    Json::Value schema = typed("string");
    if (min > 0) schema["minLength"] = Json::UInt64(min);
    schema["maxLength"] = Json::UInt64(max);
    return schema;
}

void AnyObject::decode(const JsonIn& in, const Path& path, Decoding& to, RawJson& out) const {
    if (!in.is_object()) return to.fault(path, FieldCode::WrongType);
    std::string json = minified(in);
    if (json.size() > most_bytes) return to.fault(path, FieldCode::TooLong, longest(most_bytes));
    out.text = std::move(json);
}

Json::Value AnyObject::schema() const {
    return map_of(any_json());
}

void AnyJson::decode(const JsonIn& in, const Path&, Decoding&, RawJson& out) const {
    out.text = minified(in);
}

Json::Value AnyJson::schema() const {
    Json::Value schema;
    for (const char* type : {"object", "array", "string", "number", "boolean", "null"}) {
        schema["type"].append(type);
    }
    schema["items"] = any_json();  // generators need it where a type may be an array
    return schema;
}

void Slug::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    if (text->empty()) return to.fault(path, FieldCode::Required);
    if (is_longer_than(*text, max)) return to.fault(path, FieldCode::TooLong, longest(max));
    if (!is_one(*text)) {
        return to.faults.add(path.text(), FieldCode::InvalidValue,
                             "does not have the form of a slug; use " + std::string(meaning),
                             {.max_length = static_cast<std::int64_t>(max), .format = pattern});
    }
    if (is_reserved && is_reserved(*text)) {
        return to.faults.add(path.text(), FieldCode::InvalidValue,
                             "is reserved: " + std::string(reserved_meaning));
    }
    out = *text;
}

Json::Value Slug::schema() const {
    Json::Value schema = JsonType<std::string>::typed("string");
    schema["pattern"] = std::string(pattern);
    schema["maxLength"] = Json::UInt64(max);
    return schema;
}

void Integer::decode(const JsonIn& in, const Path& path, Decoding& to, std::int64_t& out) const {
    const auto value = whole_number(in);
    const bool is_too_large = in.kind() == JsonKind::Unsigned || in.kind() == JsonKind::Large;
    if (!value && !is_too_large) return to.fault(path, FieldCode::WrongType);
    if (!value || *value < min || *value > max) {
        return to.fault(path, FieldCode::OutOfRange, between(min, max));
    }
    out = *value;
}

Json::Value Integer::schema() const {
    Json::Value schema = typed("integer");
    schema["minimum"] = Json::Int64(min);
    schema["maximum"] = Json::Int64(max);
    return schema;
}

void Boolean::decode(const JsonIn& in, const Path& path, Decoding& to, bool& out) const {
    if (const auto value = to.boolean(in, path)) out = *value;
}

Json::Value Boolean::schema() const {
    return typed("boolean");
}

void Email::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    out = *text;
    if (const auto fault = normalize_email(out)) {
        to.fault(path, *fault,
                 *fault == FieldCode::TooLong ? longest(kLongestEmail) : FieldLimits{});
    }
}

Json::Value Email::schema() const {
    Json::Value schema = typed("string");
    schema["format"] = "email";
    schema["minLength"] = 1;
    schema["maxLength"] = Json::UInt64(kLongestEmail);
    return schema;
}

void Digits::decode(const JsonIn& in, const Path& path, Decoding& to, std::string& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    out = trimmed(*text);
    std::erase_if(out, [](char c) { return trimmed({&c, 1}).empty(); });
    if (out.size() < count) return to.fault(path, FieldCode::TooShort, shortest(count));
    if (out.size() > count) return to.fault(path, FieldCode::TooLong, longest(count));
    if (out.find_first_not_of("0123456789") != std::string::npos) {
        to.faults.add(path.text(), FieldCode::InvalidValue,
                      "has a character that is not a digit; use the digits 0 to 9");
    }
}

Json::Value Digits::schema() const {
    Json::Value schema = typed("string");
    schema["pattern"] = "^\\s*([0-9]\\s*){" + std::to_string(count) + "}$";
    return schema;
}

void Instant::decode(const JsonIn& in, const Path& path, Decoding& to, Timestamp& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    const auto when = Timestamp::parse(*text);
    if (!when) return to.fault(path, FieldCode::InvalidTimestamp);
    out = *when;
}

Json::Value Instant::schema() const {
    Json::Value schema = typed("string");
    schema["format"] = "date-time";
    return schema;
}

}  // namespace muster::json
