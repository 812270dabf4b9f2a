// One HTTP exchange at a time over libcurl: the only door to curl. One object keeps one connection
// warm; it is not for two threads at once. TLS is verified, redirects are never followed, http and
// https only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
    TooLarge,  // the body passed HttpSettings::max_body
    Broken,    // anything else: the connection ended in the middle, a reply that is no HTTP
};

// There was no complete answer. what() is for a person and holds neither headers nor bodies.
class TransportError : public std::runtime_error {
  public:
    TransportError(TransportFailure failure, const std::string& text)
        : std::runtime_error(text), failure_(failure) {}
    TransportFailure failure() const { return failure_; }
    // False where the same request would fail the same way again (BadUrl, Tls, TooLarge).
    [[nodiscard]] bool may_pass() const;

  private:
    TransportFailure failure_;
};

struct HttpSettings {
    std::string ca_file;  // PEM; "" = the system's
    std::string user_agent = "muster";
    int connect_seconds = 10;
    int stall_seconds = 60;   // without a byte either way
    int total_seconds = 300;  // 0 = no limit
    std::size_t max_body = std::size_t{16} << 20U;
    // http_proxy, https_proxy and no_proxy of the environment count; the loopback never goes
    // through one.
    bool environment_proxy = false;
};

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string_view body;  // must outlive the call; sent with every method but GET and HEAD
};

struct HttpResponse {
    int status = 0;
    std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
    std::string body;

    // The first header of that name (in lower case), or "".
    [[nodiscard]] std::string_view header(std::string_view name) const;
};

class HttpClient {
  public:
    // Takes each piece of a body as it comes; what it throws ends the exchange and leaves
    // download().
    using BodySink = std::function<void(std::string_view piece)>;

    explicit HttpClient(HttpSettings settings);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // The answer, whatever its status. Throws TransportError, and std::invalid_argument for a
    // header with a line end or another control character in it.
    [[nodiscard]] HttpResponse perform(const HttpRequest& request);

    // The same, but the body of a 2xx answer goes to `sink` (without a cap, and without the total
    // time limit) and not into the response.
    [[nodiscard]] HttpResponse download(const HttpRequest& request, const BodySink& sink);

  private:
    struct Handle;
    HttpResponse exchange(const HttpRequest& request, const BodySink* sink);

    HttpSettings settings_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace muster::net
