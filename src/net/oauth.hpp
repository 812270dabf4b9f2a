// One call to an authorization server (its token, look-up or revocation endpoint) over HttpClient:
// bounded in time and size, without redirects and without a proxy. Knows no provider and reads no
// answer (rules/connections/oauth.hpp does).
#pragma once

#include "base/secret.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::net {

// A POST with a body, a GET without one. Holds secrets: never logged.
struct OAuthCall {
    std::string url;  // https://, or http:// on the loopback
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<Secret> body;
    std::string ca_file;  // PEM; "" = the system's
};

struct OAuthBounds {
    int connect_seconds = 5;
    int total_seconds = 10;
    std::size_t max_body = std::size_t{64} << 10U;
};

// Either an answer, whatever its status, or the word for why there is none: insecure, bad_url,
// resolve, connect, tls, timeout, too_large, broken.
struct OAuthReply {
    int status = 0;
    Secret body;
    std::string failure;  // "" = there is an answer

    bool has_answer() const { return failure.empty(); }
};

[[nodiscard]] OAuthReply call_oauth(const OAuthCall& call, const OAuthBounds& bounds = {});

}  // namespace muster::net
