// How a module's backend signs what it pushes (docs/modules.md "Ingest"): the header
// x-svc-signature, "t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{idempotency key}.{body}">".
// Several v1 may stand there, so that a backend can sign with two secrets while it changes from one
// to the other.
#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {

// How far a signature's moment may be from ours, either way.
inline constexpr Milliseconds kSignatureWindow{300'000};

struct IngestSignature {
    std::string_view seconds;          // as it was sent, which is what is signed
    Timestamp when;                    // the same
    std::vector<std::string> digests;  // 32 bytes each, one or more
};

// nullopt for anything but t=<1 to 15 digits> and one or more v1=<64 hex digits> behind it, with a
// comma between two and nothing else. Points into the header.
[[nodiscard]] std::optional<IngestSignature> parse_ingest_signature(std::string_view header);

[[nodiscard]] bool is_of_this_moment(const IngestSignature& signature, Timestamp now);

// Whether one of the digests is that secret's for this key and body; takes the same time whichever
// it is and however it is wrong.
[[nodiscard]] bool is_signed_by(const Secret& secret, const IngestSignature& signature,
                                std::string_view idempotency_key, std::string_view body);

}  // namespace muster::rules
