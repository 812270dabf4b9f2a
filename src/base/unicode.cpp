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

std::string normalized(std::string_view text, Map* map) {
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

struct Range {
    utf8proc_int32_t first;
    utf8proc_int32_t last;
};
// Characters that normalization form C keeps, and that join no character before them. Only scripts
// that are written often: the others take more time.
constexpr std::array<Range, 10> kComposed = {{
    {0x0, 0x2ff},      // Latin
    {0x388, 0x482},    // Greek, Cyrillic
    {0x48a, 0x590},    // Cyrillic, Armenian
    {0x5d0, 0x5ea},    // Hebrew
    {0x620, 0x64a},    // Arabic
    {0x1e00, 0x1eff},  // Latin
    {0x2010, 0x20cf},  // punctuation, currencies
    {0x3030, 0x3098},  // Hiragana
    {0x309b, 0xa66e},  // Kana, ideographs
    {0xac00, 0xd7a3},  // Korean syllables
}};

bool is_composed(utf8proc_int32_t point) {
    return std::ranges::any_of(
        kComposed, [=](const Range& range) { return point >= range.first && point <= range.last; });
}

// False only if no character can change.
bool may_be_decomposed(std::string_view text) {
    constexpr unsigned char kLead = 0xcc;  // of U+0300
    const bool is_latin = std::none_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= kLead; });
    if (is_latin) return false;
    while (!text.empty()) {
        if (!is_composed(take_point(text))) return true;
    }
    return false;
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

std::string_view composed(std::string_view text, std::string& to) {
    if (text.size() > kMostComposedBytes || !may_be_decomposed(text)) return text;
    if (!is_stream_safe(text)) return text;
    to.clear();
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t size = before_ideograph(rest);
        if (size > 0) to += normalized(rest.substr(0, size), nullptr);
        rest.remove_prefix(size);
        const std::string_view ideograph = rest;
        if (!rest.empty()) take_point(rest);
        to += ideograph.substr(0, ideograph.size() - rest.size());
    }
    return to;
}

void compose(std::string& text) {
    std::string whole;
    if (composed(text, whole).data() == whole.data()) text = std::move(whole);
}

std::string folded(std::string_view text) {
    if (text.empty()) return {};
    // Composed first, because a letter and its combining mark may fold differently when separate.
    return normalized(normalized(text, nullptr), folded_point);
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
