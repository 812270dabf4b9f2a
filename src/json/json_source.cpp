#include "json/json_source.hpp"

#include <charconv>

namespace muster::json {
namespace {

constexpr std::string_view kSpace = " \t\n\r";

bool is_space(char c) {
    return kSpace.find(c) != std::string_view::npos;
}

// The position after the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
    for (++at; at < json.size() && json[at] != '"'; ++at) {
        if (json[at] == '\\') ++at;
    }
    return std::min(at + 1, json.size());
}

// The position after the value that begins at `at`.
std::size_t end_of_value(std::string_view json, std::size_t at) {
    std::size_t depth = 0;
    while (at < json.size()) {
        const char c = json[at];
        if (c == '"') {
            at = end_of_string(json, at);
            if (depth == 0) return at;
            continue;
        }
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') {
            if (depth == 0) return at;  // the end of the enclosing container
            if (--depth == 0) return at + 1;
        }
        if (depth == 0 && (c == ',' || is_space(c))) return at;
        ++at;
    }
    return at;
}

// The value of the four digits of an escape \uXXXX that begins at `at`, or 0 if there is none.
char32_t escaped_unit(std::string_view text, std::size_t at) {
    constexpr std::size_t kLength = 6;
    if (text.substr(at, 2) != "\\u" || at + kLength > text.size()) return 0;
    unsigned value = 0;
    const char* const end = text.data() + at + kLength;
    const auto [stop, error] = std::from_chars(text.data() + at + 2, end, value, 16);
    return error == std::errc{} && stop == end ? value : 0;
}

void append_utf8(std::string& to, char32_t point) {
    const auto tail = [&](unsigned shift) {
        to += static_cast<char>(0x80U | (point >> shift & 0x3fU));
    };
    if (point < 0x800) {
        to += static_cast<char>(0xc0U | point >> 6U);
    } else if (point < 0x10000) {
        to += static_cast<char>(0xe0U | point >> 12U);
        tail(6);
    } else {
        to += static_cast<char>(0xf0U | point >> 18U);
        tail(12);
        tail(6);
    }
    tail(0);
}

// Appends a string with its quotes. Escapes of non-ASCII characters become UTF-8, so that such a
// character is equally long in both forms. Other escapes are not changed.
void append_unescaped(std::string& to, std::string_view string) {
    for (std::size_t at = 0; at < string.size();) {
        const bool is_escape = string[at] == '\\';
        char32_t point = is_escape ? escaped_unit(string, at) : 0;
        if (point < 0x80) {
            const std::size_t length = is_escape ? 2 : 1;
            to.append(string.substr(at, length));
            at += length;
            continue;
        }
        at += 6;
        if (point >= 0xd800 && point < 0xdc00) {
            point = 0x10000 + ((point - 0xd800) << 10U) + (escaped_unit(string, at) - 0xdc00);
            at += 6;
        }
        append_utf8(to, point);
    }
}

}  // namespace

std::vector<std::string_view> entries_as_sent(std::string_view container) {
    std::vector<std::string_view> entries;
    std::size_t at = container.find_first_not_of(kSpace);
    if (at == std::string_view::npos) return entries;
    const bool is_object = container[at++] == '{';
    bool is_key = is_object;
    while (at < container.size() && container[at] != ']' && container[at] != '}') {
        const char c = container[at];
        if (c == ',' || c == ':' || is_space(c)) {
            ++at;
            continue;
        }
        const std::size_t end = end_of_value(container, at);
        if (!is_key) entries.push_back(container.substr(at, end - at));
        if (is_object) is_key = !is_key;
        // A key ends with its quote. A value ends where the next token begins.
        at = std::max(end, at + 1);
    }
    return entries;
}

std::string_view member_as_sent(const JsonIn& object, std::string_view text, std::string_view key) {
    const auto members = object.object();
    if (!members) return {};
    const auto texts = entries_as_sent(text);
    std::size_t index = 0;
    for (const auto& [name, value] : *members) {
        if (name == key) return texts.at(index);
        ++index;
    }
    return {};
}

std::string compact_json(std::string_view json) {
    std::string compact;
    compact.reserve(json.size());
    for (std::size_t at = 0; at < json.size();) {
        if (json[at] == '"') {
            const std::size_t end = end_of_string(json, at);
            append_unescaped(compact, json.substr(at, end - at));
            at = end;
        } else {
            if (!is_space(json[at])) compact += json[at];
            ++at;
        }
    }
    return compact;
}

std::vector<std::string> members_as_sent(const JsonIn& root, std::string_view text,
                                         std::string_view list, std::string_view key) {
    std::vector<std::string> found;
    const auto member = root.member(list);
    const auto entries = member ? member->array() : std::nullopt;
    if (!entries) return found;
    const auto texts = entries_as_sent(member_as_sent(root, text, list));
    std::size_t index = 0;
    for (const JsonIn& entry : *entries) {
        found.push_back(compact_json(member_as_sent(entry, texts.at(index), key)));
        ++index;
    }
    return found;
}

}  // namespace muster::json
