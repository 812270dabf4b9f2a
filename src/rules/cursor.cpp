#include "rules/cursor.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

namespace muster::rules {
namespace {

// Before the position, which may be empty.
constexpr char kVersion = 1;

}  // namespace

std::string CursorSealer::seal(std::string_view scope, std::string_view position) const {
    std::string plain(1, kVersion);
    plain.append(position);
    return to_base64url(seal_repeatably(key_, plain, scope));
}

std::optional<std::string> CursorSealer::open(std::string_view scope,
                                              std::string_view cursor) const {
    const auto sealed = from_base64url(cursor);
    if (!sealed) return std::nullopt;
    auto plain = open_repeatable(key_, *sealed, scope);
    if (!plain || plain->front() != kVersion) return std::nullopt;
    return plain->substr(1);
}

}  // namespace muster::rules
