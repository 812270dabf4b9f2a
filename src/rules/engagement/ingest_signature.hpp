// The signature of ingest requests by a module's backend (docs/modules.md "Ingest"). The header
// x-svc-signature is "t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{idempotency key}.{body}">". It
// may have several v1, so that a backend can sign with two secrets during a rotation.
#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// The largest difference between a signature's time and the clock, either way.
inline constexpr Milliseconds kSignatureWindow{300'000};

struct IngestSignature {
    std::string_view seconds;          // as sent, because this text is signed
    Timestamp when;                    // the same
    std::vector<std::string> digests;  // 32 bytes each, one or more
};

// nullopt unless the header is t=<1 to 15 digits> followed by one or more v1=<64 hex digits>,
// separated by single commas. The result refers to the header's memory.
[[nodiscard]] std::optional<IngestSignature> parse_ingest_signature(std::string_view header);

[[nodiscard]] bool is_recent(const IngestSignature& signature, Timestamp now);

// True if one of the digests was made with this secret for this key and body. The time does not
// depend on the digests.
[[nodiscard]] bool is_signed_by(const Secret& secret, const IngestSignature& signature,
                                std::string_view idempotency_key, std::string_view body);

}  // namespace muster::rules
