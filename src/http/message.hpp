// A request and a reply as plain values; http/fcgi_io.cpp makes and sends them, api/pipeline.cpp
// lives between.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

enum class Method { Get, Post, Patch, Put, Delete, Head, Options, Other };
std::string_view text_of(Method method);
Method method_of(std::string_view text);

struct Request {
    Method method = Method::Other;
    std::string path;   // as the client wrote it, not decoded, without the query
    std::string query;  // behind the '?', not decoded
    std::string content_type;
    std::string authorization;
    std::string idempotency_key;
    bool has_idempotency_key = false;
    std::string if_none_match;
    std::optional<std::string> if_match;
    std::string expect_organization;
    bool has_expect_organization = false;
    std::string signature;  // x-svc-signature
    std::optional<std::string> origin;
    std::optional<std::string> referer;
    std::string cookie;                      // all of them, as the client sent them
    std::optional<std::string> geo_country;  // as nginx found it by the client's address
    std::optional<std::string> geo_region;
    std::string request_id;  // nginx's
    std::string remote_address;
    Timestamp arrived;  // when nginx took it; now() where it does not say
    std::size_t content_length = 0;
    // The whole body, or nullopt when it is longer than `limit`, and Aborted when the client gave
    // up on it.
    std::function<std::optional<std::string>(std::size_t limit)> read_body;
};

// Who counts as one client: an IPv4 address, or the /64 that an IPv6 customer has for himself.
std::string network_of(const std::string& address);

// The value of the first cookie of that name in a Cookie header (RFC 6265, 4.2); "" for none.
std::string cookie_value(std::string_view cookies, std::string_view name);

// The client went away in the middle of its body: there is nobody to answer.
struct Aborted {};

using Header = std::pair<std::string, std::string>;

// Writes a piece of a streamed body; false when the client has gone.
using Sink = std::function<bool(std::string_view piece)>;

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<Header> headers;
    std::string body;
    std::function<void(const Sink&)> stream;  // instead of body, when set
};

// The token of the Authorization header, or "" for anything that is not one bearer credential.
std::string_view bearer_token(const Request& request);

}  // namespace muster::http
