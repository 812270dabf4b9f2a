// One call to an authorization server (its token, look-up or revocation endpoint) over HttpClient,
// with limits on time and size, without redirects and without a proxy. rules/connections/oauth.hpp
// knows the providers and reads the replies.
#pragma once

#include "base/oauth.hpp"

#include <cstddef>

namespace muster::net {

struct OAuthBounds {
    int connect_seconds = 5;
    int total_seconds = 10;
    std::size_t max_body = std::size_t{64} << 10U;
};

// Sends the request. A failed transfer is not an exception: the failure of the reply gives the
// reason. Sends nothing, with the failure "insecure", if the URL is neither https nor on the
// loopback.
[[nodiscard]] OAuthReply call_oauth(const OAuthRequest& request, const OAuthBounds& bounds = {});

}  // namespace muster::net
