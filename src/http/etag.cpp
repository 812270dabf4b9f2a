#include "http/etag.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

namespace muster::http {
namespace {

constexpr std::size_t kTagCharacters = 22;  // 132 bits

// Removes the next entry from a comma-separated list. A comma between quotes is part of the tag.
std::string_view take_entry(std::string_view& list) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < list.size() && (quoted || list[end] != ','); ++end) {
        if (list[end] == '"') quoted = !quoted;
    }
    const std::string_view entry = list.substr(0, end);
    list.remove_prefix(end == list.size() ? end : end + 1);
    return trimmed_ascii(entry);
}

}  // namespace

std::string etag_of(std::string_view representation) {
    return "\"" + to_base64url(sha256(representation)).substr(0, kTagCharacters) + "\"";
}

std::string version_tag(std::string_view version) {
    return "\"" + std::string(version) + "\"";
}

bool if_match_holds(std::string_view if_match, std::string_view etag) {
    if (trimmed_ascii(if_match) == "*") return true;
    while (!if_match.empty()) {
        if (take_entry(if_match) == etag) return true;
    }
    return false;
}

bool if_none_match_matches(std::string_view if_none_match, std::string_view etag) {
    if (trimmed_ascii(if_none_match) == "*") return true;
    while (!if_none_match.empty()) {
        std::string_view entry = take_entry(if_none_match);
        if (entry.starts_with("W/")) entry.remove_prefix(2);
        if (entry == etag) return true;
    }
    return false;
}

}  // namespace muster::http
