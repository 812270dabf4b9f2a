// The body of a request: its type, its length and its coding.
#pragma once

#include "api/endpoint.hpp"
#include "http/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::api {

// Throws BAD_REQUEST if the client sent the header more than once.
void reject_repeated(const http::Request& request, std::string_view header);

// The length, in bytes, to expect of the client's body without its coding, before any of it has
// arrived: at most the row's limit.
std::size_t expected_length(const http::Request& request, const Endpoint& endpoint);

// The body, decoded; "" if there is none. Throws PAYLOAD_TOO_LARGE above the row's limit,
// UNSUPPORTED_MEDIA_TYPE for another type or coding, BAD_REQUEST if it is empty but required, and
// http::Aborted if the client disconnects.
std::string read_body(const http::Request& request, const Endpoint& endpoint);

}  // namespace muster::api
