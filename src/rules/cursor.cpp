// A cursor is base64url(position, tag). The tag is half of an HMAC-SHA256 over the scope and the
// position.
#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include <cstdint>

namespace muster::rules {
namespace {

constexpr std::size_t kTagBytes = 16;

// The length of the scope comes first, so that bytes cannot move between scope and position.
std::string tag_of(std::string_view key, std::string_view scope, std::string_view position) {
    std::string text;
    text.reserve(sizeof(std::uint64_t) + scope.size() + position.size());
    for (unsigned shift = 64; shift > 0;) {
        shift -= 8;
        text += static_cast<char>(static_cast<std::uint64_t>(scope.size()) >> shift & 0xffU);
    }
    text.append(scope).append(position);
    return hmac_sha256(key, text).substr(0, kTagBytes);
}

}  // namespace

std::string CursorSealer::seal(std::string_view scope, std::string_view position) const {
    return to_base64url(std::string(position) + tag_of(key_, scope, position));
}

std::optional<std::string> CursorSealer::open(std::string_view scope,
                                              std::string_view cursor) const {
    std::optional<std::string> bytes = from_base64url(cursor);
    if (!bytes || bytes->size() < kTagBytes) return std::nullopt;
    const std::string tag = bytes->substr(bytes->size() - kTagBytes);
    bytes->resize(bytes->size() - kTagBytes);
    if (!equal_in_constant_time(tag, tag_of(key_, scope, *bytes))) return std::nullopt;
    return bytes;
}

}  // namespace muster::rules
