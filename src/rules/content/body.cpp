#include "rules/content/body.hpp"

#include "base/text.hpp"
#include "rules/origins.hpp"

namespace muster::rules {

void Html::decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                  std::string& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    out = sanitized_html(*text);
    if (out.size() > most_bytes) to.fault(path, FieldCode::TooLong, longest(most_bytes));
}

Json::Value Html::schema() const {
    Json::Value schema = JsonType<std::string>::typed("string");
    schema["contentMediaType"] = "text/html";
    return schema;
}

void ReportedHtml::decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                          SanitizedHtml& out) const {
    const auto text = to.string(in, path);
    if (!text) return;
    out = sanitized_with_report(*text);
    if (out.html.size() > most_bytes) to.fault(path, FieldCode::TooLong, longest(most_bytes));
}

Json::Value ReportedHtml::schema() const {
    return Html{most_bytes}.schema();
}

void HttpsUrl::decode(const json::JsonIn& in, const json::Path& path, json::Decoding& to,
                      std::string& out) const {
    const auto value = to.string(in, path);
    if (!value) return;
    const std::string_view text = trimmed(*value);
    if (text.size() > max) return to.fault(path, FieldCode::TooLong, longest(max));
    if (!text.starts_with("https://") || !is_web_url(text)) {
        return to.fault(path, FieldCode::InvalidUrl);
    }
    out = text;
}

Json::Value HttpsUrl::schema() const {
    Json::Value schema = JsonType<std::string>::typed("string");
    schema["format"] = "uri";
    schema["maxLength"] = Json::UInt64(max);
    return schema;
}

}  // namespace muster::rules
