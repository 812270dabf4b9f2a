// Sends many webhooks at once over libcurl's multi interface, in one thread: no slow receiver keeps
// another waiting. Names are looked up by c-ares, every answer is judged (net/address_guard.hpp),
// and the connection goes to the address that was judged. No redirect is followed, no proxy
// variable heeded, and no more than the first bytes of an answer are kept.
#pragma once

#include "base/time.hpp"
#include "net/webhook_url.hpp"

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
};

struct Post {
    std::uint64_t tag = 0;  // comes back with the result
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;  // besides Content-Type
    std::string body;
};

struct PostResult {
    std::uint64_t tag = 0;
    // "dns", "connect", "tls", "timeout", "blocked_address", "http_3xx", "http_4xx", "http_5xx", or
    // the 2xx status as a number.
    std::string outcome;
    std::optional<int> status;
    Milliseconds duration{};
    std::string excerpt;  // of the answer's body: its first bytes, at most 1,024, any bytes
    std::optional<Milliseconds> retry_after;
};

class WebhookSender {
  public:
    explicit WebhookSender(SenderSettings settings);
    ~WebhookSender();  // breaks off what is under way
    WebhookSender(const WebhookSender&) = delete;
    WebhookSender& operator=(const WebhookSender&) = delete;

    // Never waits; whatever becomes of it, one result comes out of wait().
    void start(Post post);
    // Moves all posts on, and returns the results that are in: at once if there are any, else after
    // `at_most`.
    std::vector<PostResult> wait(Milliseconds at_most);
    [[nodiscard]] std::size_t under_way() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
