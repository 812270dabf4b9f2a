#include "base/unicode.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

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

}  // namespace

std::string folded(std::string_view text) {
    if (text.empty()) return {};
    // Composed first, because a letter and its combining mark may fold differently when separate.
    return composed(composed(text, nullptr), folded_point);
}

bool ends_in_word(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && (static_cast<unsigned char>(text[--begin]) & 0xc0U) == 0x80U) continue;
    utf8proc_int32_t point = 0;
    const std::string_view last = text.substr(begin);
    if (utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(last.data()),
                         static_cast<utf8proc_ssize_t>(last.size()), &point) < 1) {
        return false;
    }
    const auto category = utf8proc_category(point);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO);
}

std::size_t column_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        utf8proc_int32_t point = 0;
        const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                           static_cast<utf8proc_ssize_t>(text.size()), &point);
        if (size < 0) throw std::runtime_error(utf8proc_errmsg(size));
        width += static_cast<std::size_t>(utf8proc_charwidth(point));
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return width;
}

}  // namespace muster
