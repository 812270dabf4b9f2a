#include "base/printable.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace muster {
namespace {

std::uint32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
    if (character.size() == 1) return byte(0);
    std::uint32_t code = byte(0) & (0x7fU >> character.size());
    for (std::size_t at = 1; at < character.size(); ++at) code = (code << 6U) | (byte(at) & 0x3fU);
    return code;
}

struct CodeRange {
    std::uint32_t first;
    std::uint32_t last;
};

// C0 and C1 controls, zero-width and direction marks, line and paragraph separators.
constexpr CodeRange kEscaped[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};

bool is_escaped(std::uint32_t code) {
    return std::ranges::any_of(
        kEscaped, [code](CodeRange range) { return code >= range.first && code <= range.last; });
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(size, 1));
        text.remove_prefix(character.size());
        if (size > 0 && !is_escaped(code_point(character))) {
            shown += character;
            continue;
        }
        for (const char byte : character) shown += "\\x" + to_hex(std::string_view(&byte, 1));
    }
    return shown;
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kMostShown = 200;
    if (text.size() <= kMostShown) return "\"" + printable(text) + "\"";
    std::size_t end = 0;
    while (end < kMostShown) end += std::max<std::size_t>(character_size(text.substr(end)), 1);
    return "\"" + printable(text.substr(0, end)) + "...\" (" + std::to_string(text.size()) +
           " bytes)";
}

std::string as_utf8(std::string_view text) {
    return is_utf8(text) ? std::string(text) : printable(text);
}

}  // namespace muster
