// HTTP exchanges over libcurl, one at a time. An object reuses its connection and is not
// thread-safe. TLS is verified, redirects are not followed, and only http and https are allowed.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::net {

enum class TransportFailure : std::uint8_t {
    BadUrl,
    Resolve,
    Connect,
    Tls,
    Timeout,
    // The body is larger than HttpSettings::max_body, the header lines have more than 64 KiB, or
    // the chunks have much more than the body.
    TooLarge,
    Broken,  // anything else: a failed handshake, a truncated reply, a reply that is not HTTP
};

// No complete reply was received. what() is for people and contains neither headers nor bodies.
class TransportError : public std::runtime_error {
  public:
    TransportError(TransportFailure failure, const std::string& text)
        : std::runtime_error(text), failure_(failure) {}
    TransportFailure failure() const { return failure_; }
    // False if the same request would fail again in the same way (BadUrl, Tls, TooLarge).
    [[nodiscard]] bool is_transient() const;

  private:
    TransportFailure failure_;
};

struct HttpSettings {
    std::string ca_file;  // PEM; "" = the system's
    std::string user_agent = "muster";
    int connect_seconds = 10;
    int stall_seconds = 60;   // without a byte in either direction
    int total_seconds = 300;  // 0 = no limit
    std::size_t max_body = std::size_t{16} << 20U;
    // Uses http_proxy, https_proxy and no_proxy of the environment, but never for the loopback.
    bool environment_proxy = false;
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string_view body;  // must outlive the call; not sent with GET and HEAD
};

struct HttpResponse {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;

    // The first header with this name (in lower case), or "".
    [[nodiscard]] std::string_view header(std::string_view name) const;
    // The time in Date; nullopt if it is absent or malformed.
    [[nodiscard]] std::optional<Timestamp> date() const;
};

class HttpClient {
  public:
    // Receives each piece of a body as it arrives. An exception ends the exchange and is rethrown
    // by download().
    using BodySink = std::function<void(std::string_view piece)>;

    explicit HttpClient(HttpSettings settings);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // Returns the reply, whatever its status. Throws TransportError, and std::invalid_argument for
    // a header that contains a line end or another control character.
    [[nodiscard]] HttpResponse perform(const HttpRequest& request);

    // The same, but the body of a 2xx reply goes to `sink` instead of the response, without a size
    // limit and without the total time limit.
    [[nodiscard]] HttpResponse download(const HttpRequest& request, const BodySink& sink);

  private:
    struct Handle;
    HttpResponse exchange(const HttpRequest& request, const BodySink* sink);

    HttpSettings settings_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace muster::net
