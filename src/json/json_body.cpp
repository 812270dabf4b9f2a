#include "json/json_body.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <vector>

namespace muster::json {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(ErrorCode::BadRequest).detail("reason", reason);
}

std::string reason_for(simdjson::error_code error) {
    switch (error) {
        case simdjson::DEPTH_ERROR:
            return "the body is nested deeper than 64 levels";
        case simdjson::UTF8_ERROR:
            return "the body is not UTF-8";
        case simdjson::EMPTY:
            return "the body is empty";
        case simdjson::NUMBER_ERROR:
            return "the body has a number that is malformed or too large";
        case simdjson::STRING_ERROR:
            return "the body has a malformed string";
        default:
            return "the body is not JSON";
    }
}

// simdjson writes a lone low surrogate as three bytes that are no UTF-8 (ED A0..BF xx).
bool has_surrogate(std::string_view text) {
    for (std::size_t at = text.find('\xed'); at != std::string_view::npos;
         at = text.find('\xed', at + 1)) {
        if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
    }
    return false;
}

bool has_duplicate(std::vector<std::string_view>& keys) {
    constexpr std::size_t kFew = 16;
    if (keys.size() <= kFew) {
        for (std::size_t i = 1; i < keys.size(); ++i) {
            if (std::find(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i), keys[i]) !=
                keys.begin() + static_cast<std::ptrdiff_t>(i)) {
                return true;
            }
        }
        return false;
    }
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

// What the parser lets pass and we do not. Recursion is bounded by kMaxDepth.
class StrictCheck {
  public:
    explicit StrictCheck(bool has_escapes) : has_escapes_(has_escapes) {}

    // `depth`: the level of `element`, if it is a container; the root's is 1.
    void run(const JsonIn& element, std::size_t depth) {
        const bool is_container = element.is_object() || element.is_array();
        if (is_container && depth > kMaxDepth) refuse(reason_for(simdjson::DEPTH_ERROR));
        if (element.is_object()) {
            object(members_of(element), depth);
        } else if (element.is_array()) {
            for (const JsonIn entry : entries_of(element)) run(entry, depth + 1);
        } else if (has_escapes_ && element.is_string()) {
            string(std::string_view(element.get_string()));
        }
    }

  private:
    void object(const simdjson::dom::object& object, std::size_t depth) {
        std::vector<std::string_view> keys;
        keys.reserve(object.size());
        for (const auto& [key, value] : object) {
            keys.push_back(key);
            if (has_escapes_) string(key);
            if (!value.is_number() && !value.is_bool()) run(value, depth + 1);
        }
        if (has_duplicate(keys)) refuse("the body has an object with the same key twice");
    }

    static void string(std::string_view text) {
        if (has_surrogate(text)) refuse("the body has a lone surrogate");
    }

    bool has_escapes_;
};

void append_canonical(std::string& to, const JsonIn& element) {
    if (element.is_array()) {
        to += '[';
        for (const JsonIn entry : entries_of(element)) {
            append_canonical(to, entry);
            to += ',';
        }
        to += ']';
    } else if (element.is_object()) {
        std::vector<std::pair<std::string_view, JsonIn>> members;
        for (const auto& [key, value] : members_of(element)) {
            members.emplace_back(key, value);
        }
        std::sort(members.begin(), members.end(),
                  [](const auto& left, const auto& right) { return left.first < right.first; });
        to += '{';
        for (const auto& [key, value] : members) {
            append_json_string(to, key);
            to += ':';
            append_canonical(to, value);
            to += ',';
        }
        to += '}';
    } else {
        to += simdjson::minify(element);
    }
}

}  // namespace

JsonBody::JsonBody(std::string_view body) {
    // One parser a process: its buffers are as large as the largest body, and are used again.
    thread_local simdjson::dom::parser parser;
    if (body.empty()) refuse("the body is empty");
    if (body.starts_with("\xef\xbb\xbf")) refuse("the body begins with a byte order mark");
    // The parser counts a scalar as a level of its own; StrictCheck looks at the containers.
    if (parser.capacity() < body.size() || parser.max_depth() != kMaxDepth + 1) {
        if (parser.allocate(std::max<std::size_t>(body.size(), 4096), kMaxDepth + 1)) {
            throw std::bad_alloc();
        }
    }
    const auto error = parser.parse(body.data(), body.size()).get(root_);
    if (error) refuse(reason_for(error));
    StrictCheck(body.find("\\u") != std::string_view::npos).run(root_, 1);
}

std::string canonical_json(const JsonIn& element) {
    std::string text;
    append_canonical(text, element);
    return text;
}

}  // namespace muster::json
