// The parsed URL of a webhook. The sender connects to exactly what fault_in_webhook_url() checked.
// For the files of net/ only.
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
    std::optional<IpAddress> address;  // if the host is an address; already checked
};

// Returns the target, or the reason for rejecting the URL, for a person. Makes no look-up.
[[nodiscard]] std::variant<WebhookTarget, std::string> read_webhook_url(const std::string& url,
                                                                        const UrlPolicy& policy);

// https may go to public addresses, and to the loopback if the policy allows it. http may go to the
// loopback only.
[[nodiscard]] bool may_connect(bool is_https, const IpAddress& address, const UrlPolicy& policy);
// True if all addresses are allowed: one bad address makes the name untrusted.
[[nodiscard]] bool may_connect(bool is_https, const std::vector<IpAddress>& addresses,
                               const UrlPolicy& policy);

}  // namespace muster::net
