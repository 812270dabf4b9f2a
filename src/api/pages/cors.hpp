// Requests that browsers make for pages of other sites: where they come from, and what the answer
// tells the browser (Fetch standard "CORS protocol", docs/engagement.md "Origins").
#pragma once

#include "http/message.hpp"
#include "rules/pages/publishable_keys.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// The canonical origin that a request names: by Origin, else by Referer. nullopt where neither
// does, where Origin is malformed, and for "null", whatever the Referer says.
[[nodiscard]] std::optional<std::string> origin_of(const http::Request& request);

// Throws ORIGIN_NOT_ALLOWED unless the request comes from an origin on the key's list.
void require_origin(const rules::PublishableKey& key, const http::Request& request);
// The same for the console's origin, of the configuration.
void require_console(std::string_view console_origin, const http::Request& request);

// What an answer to an allowed origin carries, an error too.
std::vector<http::Header> cors_headers(const http::Request& request);

// 204 to an allowed origin's preflight for these methods ("GET, HEAD").
http::Reply preflight_reply(const std::string& methods);

}  // namespace muster::api
