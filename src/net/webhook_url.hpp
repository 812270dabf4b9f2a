// Where a webhook may go (docs/modules.md "Webhook addresses"): https to public addresses only,
// read by libcurl's own URL parser, so that what is checked is what is connected to. The addresses
// themselves are judged in net/address_guard.hpp.
#pragma once

#include <optional>
#include <string>

namespace muster::net {

struct UrlPolicy {
    bool allows_loopback = false;  // http:// on a loopback address too, for tests
    std::string dns;               // name servers, ADDRESS[:PORT],…; "" = the system's
};

// nullopt for a URL that an endpoint may have, else the reason for a person. Asks the name servers,
// for 2 s at most and in two threads at a time; a name that does not resolve now passes, and so
// does one that cannot be asked for now.
[[nodiscard]] std::optional<std::string> fault_in_webhook_url(const std::string& url,
                                                              const UrlPolicy& policy);

}  // namespace muster::net
