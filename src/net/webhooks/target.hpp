// A webhook's URL as it was read once: what fault_in_webhook_url() judges is what the sender
// connects to. For the files of net/ only.
#pragma once

#include "net/address_guard.hpp"
#include "net/curl.hpp"
#include "net/webhooks/url.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace muster::net {

struct FreeUrl {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

struct WebhookTarget {
    std::unique_ptr<CURLU, FreeUrl> url;
    bool is_https = true;
    std::string host;  // lower case, without brackets and final dot
    int port = 0;
    std::optional<IpAddress> address;  // where the host is one; it is judged already
};

// The target, or the reason why there is none, for a person. Asks nobody.
[[nodiscard]] std::variant<WebhookTarget, std::string> read_webhook_url(const std::string& url,
                                                                        const UrlPolicy& policy);

// https goes to public addresses, and to the loopback where the policy allows it; http to the
// loopback alone.
[[nodiscard]] bool may_connect(bool is_https, const IpAddress& address, const UrlPolicy& policy);
// All of them may be connected to: a name with a single bad answer is none to trust.
[[nodiscard]] bool may_connect(bool is_https, const std::vector<IpAddress>& addresses,
                               const UrlPolicy& policy);

}  // namespace muster::net
