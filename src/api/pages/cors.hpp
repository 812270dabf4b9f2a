// Cross-origin requests of browsers: the request's origin and the CORS reply headers (Fetch
// standard "CORS protocol", docs/engagement.md "Origins").
#pragma once

#include "http/message.hpp"
#include "rules/pages/publishable_keys.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The canonical origin of a request: from Origin, or else from Referer. nullopt if both are absent,
// or if Origin is malformed or "null".
[[nodiscard]] std::optional<std::string> origin_of(const http::Request& request);

// Throws ORIGIN_NOT_ALLOWED unless the request's origin is one of the key's allowed origins.
void require_origin(const rules::PublishableKey& key, const http::Request& request);
// The same for the console's configured origin. A GET or HEAD may lack the Origin: then
// Sec-Fetch-Site is the proof, or the Referer if that is absent. Sec-Fetch-Site must be same-origin
// if it is present (Fetch Metadata Request Headers).
void require_console(std::string_view console_origin, const http::Request& request);
// Whether a browser says that the request is from a page of the console: by Sec-Fetch-Site, or by
// Origin or Referer if that is absent. An Origin must be the console's in each case.
[[nodiscard]] bool is_from_console(std::string_view console_origin, const http::Request& request);

// The headers of a reply to an allowed origin, also of an error.
std::vector<http::Header> cors_headers(const http::Request& request);

// The 204 reply to an allowed origin's preflight for these methods ("GET, HEAD").
http::Reply preflight_reply(const std::string& methods);

}  // namespace muster::api
