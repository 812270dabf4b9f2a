// Where a webhook may go (docs/modules.md "Webhook addresses"): https to public addresses only,
// read by libcurl's own URL parser, so that what is checked is what is connected to. The addresses
// themselves are judged in net/address_guard.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::net {

struct UrlPolicy {
    bool allows_loopback = false;  // http:// on a loopback address too, for tests
    std::string dns;               // name servers, ADDRESS[:PORT],…; "" = the system's
};

// Whether a name's addresses are asked for now, or only when something is sent.
enum class LookUp : std::uint8_t { No, Yes };

// nullopt for a URL that an endpoint may have, else the reason for a person. May ask the name
// servers, for 2 s at most; a name that does not resolve now passes.
[[nodiscard]] std::optional<std::string> fault_in_webhook_url(const std::string& url,
                                                              const UrlPolicy& policy,
                                                              LookUp look_up = LookUp::Yes);

}  // namespace muster::net
