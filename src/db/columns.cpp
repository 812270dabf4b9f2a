#include "db/columns.hpp"

#include "base/json.hpp"

#include <json/value.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace muster::db {
namespace {

// The place of the first character that is not part of a plain string.
std::size_t end_of_plain(std::string_view json, std::size_t at) {
    const auto is_plain = [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    };
    while (at < json.size() && is_plain(json[at])) ++at;
    return at;
}

// Reads an array as Muster writes it, without escapes and white space, because jsoncpp is slow for
// short lists. nullopt for any other text, which jsoncpp then reads or rejects.
std::optional<std::vector<std::string>> plain_texts(std::string_view json) {
    std::vector<std::string> texts;
    if (json == "[]") return texts;
    std::size_t at = 0;
    char before = '[';
    while (at + 1 < json.size() && json[at] == before && json[at + 1] == '"') {
        const std::size_t start = at + 2;
        const std::size_t end = end_of_plain(json, start);
        if (end == json.size() || json[end] != '"') return std::nullopt;
        texts.emplace_back(json.substr(start, end - start));
        at = end + 1;
        before = ',';
        if (json.substr(at) == "]") return texts;
    }
    return std::nullopt;
}

}  // namespace

void refuse_value(std::string_view what) {
    throw DbError(DbError::Kind::Other, 0, "stored: " + std::string(what));
}

std::vector<std::string> texts_of(const std::string& json) {
    if (auto texts = plain_texts(json)) return std::move(*texts);
    Json::Value value;
    if (!parse_json(json, value) || !value.isArray()) refuse_value("a text is not a JSON array");
    std::vector<std::string> texts;
    for (const Json::Value& text : std::as_const(value)) {
        if (!text.isString()) refuse_value("an array of texts holds another value");
        texts.push_back(text.asString());
    }
    return texts;
}

}  // namespace muster::db
