#include "service/access/credentials.hpp"

#include "base/crypto.hpp"
#include "base/error.hpp"
#include "base/faults.hpp"

namespace muster::service {

void reject_past_expiry(const std::optional<Timestamp>& expires_at, Timestamp now) {
    if (!expires_at || *expires_at > now) return;
    Faults faults;
    faults.add("expires_at", FieldCode::OutOfRange);
    throw Error(ErrorCode::ValidationError).fields(faults);
}

HashedTokens::HashedTokens(std::span<const std::string> tokens) {
    for (const std::string& token : tokens) {
        const auto [entry, is_new] = tokens_.emplace(sha256(token), token);
        if (is_new) hashes_.push_back(entry->first);
    }
}

}  // namespace muster::service
