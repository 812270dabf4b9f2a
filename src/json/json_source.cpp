#include "json/json_source.hpp"

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
        const std::size_t end = json[at] == '"' ? end_of_string(json, at) : at + 1;
        if (!is_space(json[at])) compact.append(json.substr(at, end - at));
        at = end;
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
