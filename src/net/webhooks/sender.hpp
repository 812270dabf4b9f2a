// Sends many webhooks at once over libcurl's multi interface, in one thread: no slow receiver keeps
// another waiting. Names are looked up by c-ares, every answer is judged (net/address_guard.hpp),
// and the connection goes to the address that was judged. No redirect is followed, no proxy
// variable heeded, and no more than the first bytes of an answer are kept.
#pragma once

#include "base/time.hpp"
#include "net/webhooks/url.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::net {

struct SenderSettings {
    UrlPolicy policy;
    std::string ca_file;  // PEM; "" = the system's
    int connect_seconds = 5;
    int total_seconds = 15;  // the look-up of the name included
    int cache_seconds = 10;  // for how long the addresses of a name are not asked for again
};

struct Post {
    std::uint64_t tag = 0;  // comes back with the result
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;  // besides Content-Type
    std::string body;
};

struct PostResult {
    std::uint64_t tag = 0;
    // The 2xx status as a number, "http_3xx", "http_4xx" or "http_5xx" (600 and more included)
    // where an answer came, whether or not its body was all there; else one of these:
    //   "blocked_address"  the policy takes no such URL (any more), or not all of the name's
    //                      addresses: nothing was sent
    //   "dns"              the name has no address, or none within connect_seconds
    //   "connect"          no TCP connection, or one that broke off, or what came was no HTTP
    //   "tls"              no TLS, or a certificate that is not to be trusted
    //   "timeout"          connected, and no whole answer in time
    std::string outcome;
    std::optional<int> status;  // of an answer
    Milliseconds duration{};    // since start()
    std::string excerpt;        // of the answer's body: its first bytes, at most 1,024, any bytes
    std::optional<Milliseconds> retry_after;  // of an answer; zero for a moment that is past
};

class WebhookSender {
  public:
    // For the whole process: SIGPIPE is ignored from here on, and as many files may be open as the
    // hard limit allows (each post under way takes one). Throws std::runtime_error for name
    // servers that are none.
    explicit WebhookSender(SenderSettings settings);
    ~WebhookSender();  // breaks off what is under way
    WebhookSender(const WebhookSender&) = delete;
    WebhookSender& operator=(const WebhookSender&) = delete;

    // Never waits; whatever becomes of it, one result comes out of wait(). Throws
    // std::invalid_argument for a header with a line end or another control character in it.
    void start(Post post);
    // Moves all posts on, and returns the results that are in: at once if there are any, else after
    // `at_most`.
    std::vector<PostResult> wait(Milliseconds at_most);
    // Posts whose results are still to come out of wait().
    [[nodiscard]] std::size_t under_way() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
