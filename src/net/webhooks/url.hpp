// The URLs to which a webhook may be sent (docs/webhooks.md "Webhook addresses"): https to public
// addresses only. libcurl's own URL parser reads them, so that the check and the connection use the
// same host. net/address_guard.hpp checks the addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster::net {

struct UrlPolicy {
    bool allows_loopback = false;  // also http:// to a loopback address, for tests
    std::string dns;               // name servers, ADDRESS[:PORT],…; "" = the system's
};

// Whether the addresses of a name are checked now, or only when a webhook is sent.
enum class LookUp : std::uint8_t { No, Yes };

// Returns nullopt for a URL that an endpoint may use, otherwise the reason for a person. May query
// the name servers for at most 2 seconds. A name that does not resolve now is accepted.
[[nodiscard]] std::optional<std::string> fault_in_webhook_url(const std::string& url,
                                                              const UrlPolicy& policy,
                                                              LookUp look_up = LookUp::Yes);

}  // namespace muster::net
