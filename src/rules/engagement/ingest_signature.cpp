#include "rules/engagement/ingest_signature.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"

namespace muster::rules {
namespace {

constexpr std::size_t kMostSecondsDigits = 15;
constexpr std::size_t kDigestBytes = 32;
constexpr std::string_view kDigits = "0123456789";

bool is_decimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
}

// Removes `name` from the start of the part.
bool take_name(std::string_view& part, std::string_view name) {
    if (!part.starts_with(name)) return false;
    part.remove_prefix(name.size());
    return true;
}

}  // namespace

std::optional<IngestSignature> parse_ingest_signature(std::string_view header) {
    const auto parts = split(header, ',');
    if (parts.size() < 2) return std::nullopt;
    IngestSignature signature;
    signature.seconds = parts.front();
    if (!take_name(signature.seconds, "t=") || !is_decimal(signature.seconds) ||
        signature.seconds.size() > kMostSecondsDigits) {
        return std::nullopt;
    }
    signature.when = Timestamp(1000 * parse_number<std::int64_t>(signature.seconds).value_or(0));
    for (std::size_t i = 1; i < parts.size(); ++i) {
        std::string_view part = parts[i];
        if (!take_name(part, "v1=")) return std::nullopt;
        const auto digest = from_hex(part);
        if (!digest || digest->size() != kDigestBytes) return std::nullopt;
        signature.digests.push_back(*digest);
    }
    return signature;
}

bool is_recent(const IngestSignature& signature, Timestamp now) {
    return signature.when >= now - kSignatureWindow && signature.when <= now + kSignatureWindow;
}

bool is_signed_by(const Secret& secret, const IngestSignature& signature,
                  std::string_view idempotency_key, std::string_view body) {
    std::string text(signature.seconds);
    text.append(".").append(idempotency_key).append(".").append(body);
    const std::string expected = hmac_sha256(secret.reveal(), text);
    bool found = false;
    for (const std::string& digest : signature.digests) {
        found |= equal_in_constant_time(expected, digest);
    }
    return found;
}

}  // namespace muster::rules
