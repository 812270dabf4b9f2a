// Sends many webhooks at once over libcurl's multi interface, in one thread. A slow receiver does
// not delay others. c-ares resolves names, every address is checked (net/address_guard.hpp), and
// the connection goes to a checked address. Redirects and proxy variables are ignored. Only the
// first bytes of a reply are kept.
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
    int total_seconds = 15;  // including the name look-up
    int cache_seconds = 10;  // how long the addresses of a name are cached
};

struct Post {
    std::uint64_t tag = 0;  // returned with the result
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;  // in addition to Content-Type
    std::shared_ptr<const std::string> body;  // not null; released before the result is returned
};

struct PostResult {
    std::uint64_t tag = 0;
    // If a reply came, complete or not: the 2xx status as a number, "http_3xx", "http_4xx" or
    // "http_5xx" (also for 600 and above). Otherwise one of these:
    //   "blocked_address"  the policy does not allow the URL, or one of its addresses; nothing
    //                      was sent
    //   "dns"              the name has no address, or none was found within connect_seconds
    //   "connect"          no TCP connection, or it broke, or the reply was not HTTP, had more than
    //                      64 KiB of header lines, or chunks with much more than the body
    //   "tls"              no TLS, or the certificate is not trusted
    //   "timeout"          connected, but no complete reply in time
    //   "internal"         an internal error, which the sender logs: no memory, no free file
    //                      descriptor, no file of authorities, or no call of wait() for a second
    //                      before the time was up. It says nothing about the receiver
    std::string outcome;
    std::optional<int> status;  // of the reply
    Milliseconds duration{};    // since start()
    std::string excerpt;        // the first bytes of the reply's body, at most 1,024, unfiltered
    std::optional<Milliseconds> retry_after;  // of the reply; zero for a time in the past
};

class WebhookSender {
  public:
    // Affects the whole process: ignores SIGPIPE from now on, and raises the limit of open files to
    // the hard limit (each pending post needs one). Throws std::runtime_error for invalid name
    // servers.
    explicit WebhookSender(SenderSettings settings);
    ~WebhookSender();  // cancels pending posts
    WebhookSender(const WebhookSender&) = delete;
    WebhookSender& operator=(const WebhookSender&) = delete;

    // Never waits. wait() returns exactly one result for the post, unless start() throws:
    // std::invalid_argument for a header that contains a line end or another control character, or
    // std::bad_alloc.
    void start(Post post);
    // Handles all pending posts and returns the results: at once if there are any, otherwise after
    // at most `at_most`.
    std::vector<PostResult> wait(Milliseconds at_most);
    // The number of posts whose results wait() has not yet returned.
    [[nodiscard]] std::size_t pending_count() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
