// One call to an authorization server. rules/connections builds requests and reads replies;
// net/oauth.hpp sends them.
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// A POST if it has a body, otherwise a GET. Contains secrets: never log it.
struct OAuthRequest {
    std::string url;  // https://, or http:// on the loopback
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<Secret> body;
    std::string ca_file;  // PEM; "" = the system's
};

// A reply with any status, or the reason why there is no reply: insecure, bad_url, resolve,
// connect, tls, timeout, too_large, broken.
struct OAuthReply {
    int status = 0;
    Secret body;
    std::string failure;  // "" = a reply was received

    bool was_received() const { return failure.empty(); }
};

}  // namespace muster
