#include "base/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

namespace muster {
namespace {

struct Free {
    void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

// utf8proc has only full folding, in which one character may become several ("ss"). An upper-case
// letter has one lower-case letter.
utf8proc_int32_t folded_point(utf8proc_int32_t point, void* /*unused*/) {
    constexpr utf8proc_int32_t kDottedI = 0x130;
    constexpr utf8proc_int32_t kDotlessI = 0x131;
    if (point == kDottedI || point == kDotlessI) return point;
    return utf8proc_tolower(utf8proc_toupper(point));
}

using Map = utf8proc_int32_t(utf8proc_int32_t, void*);

std::string composed(std::string_view text, Map* map) {
    utf8proc_uint8_t* result = nullptr;
    const auto length = utf8proc_map_custom(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
        static_cast<utf8proc_ssize_t>(text.size()), &result,
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE), map, nullptr);
    const std::unique_ptr<utf8proc_uint8_t, Free> owned(result);
    if (length < 0) throw std::runtime_error(utf8proc_errmsg(length));
    return {reinterpret_cast<const char*>(owned.get()), static_cast<std::size_t>(length)};
}

// Removes the first character of valid UTF-8 and returns it; -1 if the text is not valid.
utf8proc_int32_t take_point(std::string_view& text) {
    utf8proc_int32_t point = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &point);
    if (size < 1) return -1;
    text.remove_prefix(static_cast<std::size_t>(size));
    return point;
}

// How many combining marks a character is, when decomposed; 0 for one that ends a run of marks. The
// four are written as one character, but every form of normalization takes them apart.
int combining_marks(utf8proc_int32_t point) {
    constexpr std::array<utf8proc_int32_t, 4> kTwoMarks = {0x344, 0xf73, 0xf75, 0xf81};
    if (std::ranges::find(kTwoMarks, point) != kTwoMarks.end()) return 2;
    return utf8proc_get_property(point)->combining_class == 0 ? 0 : 1;
}

// Blocks "CJK Compatibility Ideographs" and their supplement. No combining mark joins them.
bool is_compatibility_ideograph(utf8proc_int32_t point) {
    return (point >= 0xf900 && point <= 0xfaff) || (point >= 0x2f800 && point <= 0x2fa1f);
}

// All characters below U+0300 are composed. In UTF-8 their bytes are below 0xcc.
bool may_be_decomposed(std::string_view text) {
    constexpr unsigned char kLead = 0xcc;
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) >= kLead; });
}

// The length in bytes of what `text` has before its first ideograph for compatibility.
std::size_t before_ideograph(std::string_view text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t at = text.size() - rest.size();
        if (is_compatibility_ideograph(take_point(rest))) return at;
    }
    return text.size();
}

}  // namespace

void compose(std::string& text) {
    if (!may_be_decomposed(text) || text.size() > kMostComposedBytes) return;
    if (!is_stream_safe(text)) return;
    std::string whole;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t size = before_ideograph(rest);
        if (size > 0) whole += composed(rest.substr(0, size), nullptr);
        rest.remove_prefix(size);
        const std::string_view ideograph = rest;
        if (!rest.empty()) take_point(rest);
        whole += ideograph.substr(0, ideograph.size() - rest.size());
    }
    text = std::move(whole);
}

std::string folded(std::string_view text) {
    if (text.empty()) return {};
    // Composed first, because a letter and its combining mark may fold differently when separate.
    return composed(composed(text, nullptr), folded_point);
}

bool is_stream_safe(std::string_view text) {
    constexpr int kMostMarks = 30;
    int marks = 0;  // of the run that the last character belongs to
    while (!text.empty()) {
        const utf8proc_int32_t point = take_point(text);
        if (point < 0) return false;
        const int more = combining_marks(point);
        marks = more == 0 ? 0 : marks + more;
        if (marks > kMostMarks) return false;
    }
    return true;
}

bool ends_in_word(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && (static_cast<unsigned char>(text[--begin]) & 0xc0U) == 0x80U) continue;
    std::string_view last = text.substr(begin);
    const utf8proc_int32_t point = take_point(last);
    if (point < 0) return false;
    const auto category = utf8proc_category(point);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

std::size_t column_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        const utf8proc_int32_t point = take_point(text);
        if (point < 0) throw std::runtime_error(utf8proc_errmsg(UTF8PROC_ERROR_INVALIDUTF8));
        width += static_cast<std::size_t>(utf8proc_charwidth(point));
    }
    return width;
}

}  // namespace muster
