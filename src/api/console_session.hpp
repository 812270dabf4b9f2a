// The session of the console's pages. Its token is in a cookie that no script can read
// (docs/api/sign-in.md "The session of a browser").
#pragma once

#include "http/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The token in the session's cookie; "" if it has not the form of a token. nullopt if the cookie is
// absent or ignored: the request has an Authorization header, or is not from a page of the console,
// or may change something and lacks X-Muster-Console.
[[nodiscard]] std::optional<std::string> console_session_token(std::string_view console_origin,
                                                               const http::Request& request);

// The header that gives the token to the browser.
http::Header console_session_cookie(std::string_view token);
// The headers that make the browser forget the session and what the pages stored.
std::vector<http::Header> console_session_end();

}  // namespace muster::api
