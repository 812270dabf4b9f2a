#include "rules/modules/manifest_faults.hpp"

#include "base/text.hpp"
#include "rules/event_types.hpp"

namespace muster::rules {
namespace {

constexpr std::size_t kShownBytes = 40;

std::string is_value(const json::JsonIn& value) {
    return "is " + shown_value(value) + "; ";
}

// Muster's types that begin with this word, separated by commas.
std::string own_types(std::string_view word) {
    std::string types;
    for (const std::string_view type : kCanonicalEventTypes) {
        if (first_word(type) != word) continue;
        types.append(types.empty() ? "" : ", ").append(type);
    }
    return types;
}

}  // namespace

std::string shown_value(const json::JsonIn& value) {
    std::string text;
    json::append_value(text, value);
    if (text.size() <= kShownBytes) return text;
    std::string_view shown = std::string_view(text).substr(0, kShownBytes);
    while (!is_utf8(shown)) shown.remove_suffix(1);
    return std::string(shown) + "…";
}

std::string wrong_type_message(const json::JsonIn& value, std::string_view expected) {
    return is_value(value) + "use " + std::string(expected);
}

std::string emits_message(std::string_view slug, const json::JsonIn& type) {
    const std::string word = emitted_word(slug);
    if (is_reserved_slug(slug)) {
        return is_value(type) + "types that begin with \"" + word +
               ".\" belong to Muster, so this module cannot emit any";
    }
    return is_value(type) + "use a type that begins with \"" + word +
           ".\" and continues with words of a-z, 0-9 and _ that begin with a letter, such as \"" +
           word + ".created\"";
}

std::string subscribes_message(const json::JsonIn& type) {
    const std::string own = own_types(first_word(type.string().value_or("")));
    if (!own.empty()) return is_value(type) + "use " + own;
    return is_value(type) +
           "use a type of Muster, such as member.created, or of a module, such as shop.order_paid";
}

}  // namespace muster::rules
