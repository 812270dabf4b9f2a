// One call to an authorization server: rules/connections makes requests and reads replies,
// net/oauth.hpp carries them.
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// A POST with a body, a GET without one. Holds secrets: never logged.
struct OAuthRequest {
    std::string url;  // https://, or http:// on the loopback
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<Secret> body;
    std::string ca_file;  // PEM; "" = the system's
};

// Either an answer, whatever its status, or the word for why there is none: insecure, bad_url,
// resolve, connect, tls, timeout, too_large, broken.
struct OAuthReply {
    int status = 0;
    Secret body;
    std::string failure;  // "" = there is an answer

    bool has_answer() const { return failure.empty(); }
};

}  // namespace muster
