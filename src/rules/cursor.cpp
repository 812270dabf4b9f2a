#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

namespace muster::rules {
namespace {

// The length of a cursor shows that of its position only to a multiple of this.
constexpr std::size_t kBlock = 32;
constexpr char kEnd = '\x80';  // and zero bytes, up to the end of the block

std::string padded(std::string_view position) {
    std::string text(position);
    text += kEnd;
    text.append((kBlock - text.size() % kBlock) % kBlock, '\0');
    return text;
}

}  // namespace

std::string CursorSealer::seal(std::string_view scope, std::string_view position) const {
    return to_base64url(seal_repeatably(key_, padded(position), scope));
}

std::optional<std::string> CursorSealer::open(std::string_view scope,
                                              std::string_view cursor) const {
    const auto sealed = from_base64url(cursor);
    if (!sealed) return std::nullopt;
    auto text = open_repeatable(key_, *sealed, scope);
    const std::size_t end = text ? text->find_last_not_of('\0') : std::string::npos;
    if (end == std::string::npos || (*text)[end] != kEnd) return std::nullopt;
    text->resize(end);
    return text;
}

}  // namespace muster::rules
