// A request and a reply as plain values. http/fcgi_io.cpp takes requests and sends replies;
// api/pipeline.cpp turns one into the other.
#pragma once

#include "base/time.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

enum class Method { Get, Post, Patch, Put, Delete, Head, Options, Other };
std::string_view text_of(Method method);
Method method_of(std::string_view text);
// Whether the method changes nothing. A browser sends no Origin with such a request to its own
// site, and one with every other method.
constexpr bool is_safe(Method method) {
    return method == Method::Get || method == Method::Head;
}

using Header = std::pair<std::string, std::string>;

// Why a request is answered later (FcgiServer). The headers of its reply are known already.
struct Deferral {
    std::size_t index = 0;   // of the request in its batch
    std::string share = {};  // what it waits for; "": no share
    // Its place among those that wait, which is free again when the last copy is destroyed.
    std::shared_ptr<const void> place = {};
    std::chrono::steady_clock::time_point not_before{};  // of its next batch
    bool is_turn = false;    // it can be answered then; a server that ends does not wait for it
    bool has_effect = true;  // it is answered also if its peer has gone
    std::vector<Header> headers = {};
    std::optional<std::string> body = {};           // if it was read
    std::string token = {};                         // the credential that was found
    bool is_above_rate = false;                     // it is answered, but has no effect
    std::chrono::steady_clock::time_point began{};  // when a worker first began it
    int times = 0;                                  // how often it was deferred; set by the server
    std::chrono::steady_clock::time_point until{};  // set by the server
};

struct Request {
    Method method = Method::Other;
    std::string path;   // as sent by the client: not decoded, without the query
    std::string query;  // after the '?', not decoded
    std::string content_type;
    std::string content_encoding;  // all values, joined; "": none
    // Those of kSingleHeaders that the client sent more than once, so that their value is
    // ambiguous.
    std::vector<std::string_view> repeated_headers;
    std::string authorization;
    std::string idempotency_key;
    bool has_idempotency_key = false;
    std::string if_none_match;
    std::optional<std::string> if_match;
    std::optional<std::string> organization;  // X-Organization
    std::string expect_organization;
    bool has_expect_organization = false;
    std::string signature;  // x-svc-signature
    std::optional<std::string> origin;
    std::optional<std::string> referer;
    std::string cookie;                      // all cookies, as sent by the client
    std::optional<std::string> geo_country;  // as nginx looked it up by the client's address
    std::optional<std::string> geo_region;
    // Sec-Fetch-Site: where the page that sends the request is from, as the browser says.
    std::optional<std::string> fetch_site;
    bool has_console_header = false;  // X-Muster-Console: 1
    std::string user_agent;
    bool is_prefetch = false;  // the browser may never show the reply
    std::string request_id;    // nginx's
    std::string remote_address;
    Timestamp arrived;  // when nginx passed it on complete, or now() if nginx does not say
    // nginx asks whether the credential is accepted, before it reads the body
    // (nginx/snippets/muster-credential.conf).
    bool is_credential_check = false;
    // The fields RateLimit-Policy and RateLimit of that check; "" if nginx did not ask.
    std::string charged_policy;
    std::string charged_rate;
    std::size_t content_length = 0;  // of the body that the worker gets
    // Of the body that the client sends; nullopt: not announced. A credential check gets no body.
    std::optional<std::size_t> announced_length;
    // False if the request must be answered now: it has waited, or too many others wait.
    bool may_wait = true;
    std::optional<Deferral> deferral;  // set if it was deferred before
    // Reads the whole body. nullopt if it is longer than `limit`. Throws Aborted if the client
    // disconnects.
    std::function<std::optional<std::string>(std::size_t limit)> read_body;
};

// Headers whose value decides what a request does. A client that sends one twice gets an error.
inline constexpr std::array<std::string_view, 4> kSingleHeaders = {
    "Content-Type", "Idempotency-Key", "X-Expect-Organization", "X-Organization"};

// The headers of kSingleHeaders that are repeated among the names of a FastCGI request's
// parameters, which have the form HTTP_NAME.
std::vector<std::string_view> repeated_headers(std::span<const std::string_view> parameters);

// Whether kSingleHeaders has the name, and the request repeats it.
bool is_repeated(const Request& request, std::string_view header);

// Whether the value of a Sec-Purpose, Purpose or X-Moz header names a prefetch.
bool names_prefetch(std::string_view purpose);

// The address that identifies a client for rate limits: an IPv4 address, or the /64 network of an
// IPv6 address.
std::string network_of(const std::string& address);

// The value of the first cookie with this name in a Cookie header (RFC 6265, 4.2), or "".
std::string cookie_value(std::string_view cookies, std::string_view name);

// The client disconnected while sending its body, so no reply is sent.
struct Aborted {};

// Writes a piece of a streamed body. False if the client has disconnected.
using Sink = std::function<bool(std::string_view piece)>;

struct Reply {
    int status = 200;
    std::string content_type = "application/json";
    std::vector<Header> headers = {};
    std::string body;
    std::function<void(const Sink&)> stream;  // if set, used instead of body
    std::size_t stream_length = 0;            // the total size of its pieces
    std::size_t omitted = 0;                  // the size of the body that a 304 leaves out
};

// The token of the Authorization header, or "" if the header is not one bearer credential.
std::string_view bearer_token(const Request& request);

}  // namespace muster::http
