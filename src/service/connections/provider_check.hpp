// Whether the providers of external data are configured and answer (musterctl provider list, check;
// docs/external-data.md "Checking"). Needs no database.
#pragma once

#include "rules/connections/providers.hpp"

#include <cstdint>
#include <string>

namespace muster {
struct Settings;
}

namespace muster::service {

enum class ProviderVerdict : std::uint8_t {
    Accepted,   // it answered, and knows us as a client
    Undecided,  // it answered, but said nothing about who we are
    Unchecked,  // where it is is known with a connection alone
    Failed,     // it did not answer as such an endpoint does, or does not accept us
};
// "accepted" …
[[nodiscard]] std::string_view text_of(ProviderVerdict verdict);

struct ProviderCheck {
    ProviderVerdict verdict = ProviderVerdict::Failed;
    std::string url;   // that was asked; "" where none was
    int status = 0;    // of the answer; 0 = there was none
    std::string code;  // the provider's error code, or why there was no answer
    std::string text;  // for the operator
};

// Asks the token endpoint of a provider that is ready for tokens, with a code that it cannot have
// given, and judges it by what it answers. Nothing comes of it at the provider.
[[nodiscard]] ProviderCheck check_provider(const Settings& settings,
                                           const rules::Provider& provider);

}  // namespace muster::service
