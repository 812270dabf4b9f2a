#include "rules/event_types.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

bool is_word(std::string_view word) {
    return !word.empty() && is_lower(word.front()) &&
           std::all_of(word.begin(), word.end(),
                       [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_ours(std::string_view word) {
    return std::any_of(kCanonicalEventTypes.begin(), kCanonicalEventTypes.end(),
                       [&](std::string_view type) { return first_word(type) == word; });
}

}  // namespace

std::string_view first_word(std::string_view type) {
    return type.substr(0, type.find('.'));
}

std::string emitted_word(std::string_view slug) {
    std::string word(slug);
    std::replace(word.begin(), word.end(), '-', '_');
    return word;
}

bool is_event_type(std::string_view text) {
    if (text.size() > kLongestEventType) return false;
    const auto words = split(text, '.');
    return words.size() > 1 && std::all_of(words.begin(), words.end(), is_word);
}

bool can_subscribe_to(std::string_view type) {
    if (!is_event_type(type)) return false;
    const bool is_canonical = std::find(kCanonicalEventTypes.begin(), kCanonicalEventTypes.end(),
                                        type) != kCanonicalEventTypes.end();
    return is_canonical || !is_ours(first_word(type));
}

bool is_reserved_slug(std::string_view slug) {
    return is_ours(emitted_word(slug));
}

bool can_emit(std::string_view slug, std::string_view type) {
    return is_event_type(type) && first_word(type) == emitted_word(slug) && !is_reserved_slug(slug);
}

}  // namespace muster::rules
