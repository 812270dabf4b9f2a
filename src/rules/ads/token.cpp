#include "rules/ads/token.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace muster::rules {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kHeadBytes = 2;  // version, kind
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kSignedBytes = kHeadBytes + 4 * Uuid::kBytes + kTimeBytes;
constexpr std::size_t kTagBytes = 32;

std::string big_endian(std::int64_t value) {
    std::string bytes(kTimeBytes, '\0');
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = kTimeBytes; i-- > 0; rest >>= 8U) {
        bytes[i] = static_cast<char>(rest & 0xffU);
    }
    return bytes;
}

std::int64_t of_big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
    return static_cast<std::int64_t>(value);
}

}  // namespace

std::string encode_ad_token(const Secret& key, const AdToken& token) {
    std::string text{kVersion, static_cast<char>(token.kind)};
    text.append(token.organization.bytes()).append(token.serving.bytes());
    text.append(token.campaign.bytes()).append(token.creative.bytes());
    text += big_endian(token.expires_at.milliseconds());
    return to_base64url(text + hmac_sha256(key.reveal(), text));
}

std::optional<AdToken> decode_ad_token(std::span<const Secret> keys, AdTokenKind kind,
                                       std::string_view text) {
    const auto bytes = from_base64url(text);
    if (!bytes || bytes->size() != kSignedBytes + kTagBytes) return std::nullopt;
    const std::string_view content = std::string_view(*bytes).substr(0, kSignedBytes);
    const std::string_view tag = std::string_view(*bytes).substr(kSignedBytes);
    const bool is_ours = std::any_of(keys.begin(), keys.end(), [&](const Secret& key) {
        return equal_in_constant_time(tag, hmac_sha256(key.reveal(), content));
    });
    if (!is_ours || content[0] != kVersion || content[1] != static_cast<char>(kind)) {
        return std::nullopt;
    }
    const auto id = [&](std::size_t place) {
        return *Uuid::from_bytes(content.substr(kHeadBytes + place * Uuid::kBytes, Uuid::kBytes));
    };
    return AdToken{kind,
                   OrgId(id(0)),
                   ServingId(id(1)),
                   CampaignId(id(2)),
                   CreativeId(id(3)),
                   Timestamp(of_big_endian(content.substr(kSignedBytes - kTimeBytes)))};
}

}  // namespace muster::rules
