// One webhook in transfer: the curl options, the kept parts of the reply, and the result. Only
// net/webhooks/sender.cpp uses it.
#pragma once

#include "net/address_guard.hpp"
#include "net/curl.hpp"
#include "net/reply_bound.hpp"
#include "net/webhooks/sender.hpp"
#include "net/webhooks/target.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

// The outcome "internal" of PostResult.
inline constexpr std::string_view kInternalError = "internal";

class WebhookTransfer {
  public:
    // `settings` must outlive it. Throws std::invalid_argument for an invalid header, for example
    // one that contains a line end.
    WebhookTransfer(Post post, const SenderSettings& settings);
    WebhookTransfer(const WebhookTransfer&) = delete;  // curl holds a pointer to it
    WebhookTransfer& operator=(const WebhookTransfer&) = delete;

    // False if the policy does not allow the URL.
    [[nodiscard]] bool read_url();
    // After read_url(): the name to look up, or "" if the host is an address.
    [[nodiscard]] std::string name_to_look_up() const;
    // Restricts the connection to these addresses. Returns false if one of them is not allowed.
    // Pass an empty list if the host is an address.
    [[nodiscard]] bool pin(const std::vector<IpAddress>& addresses);
    // Returns a handle for curl_multi_add_handle(); its CURLINFO_PRIVATE is this object. nullptr if
    // the time is up.
    [[nodiscard]] CURL* prepare();

    CURL* curl() const { return curl_.get(); }
    // The result for curl's code.
    [[nodiscard]] PostResult result(CURLcode code) const;
    // The result for a post that curl did not send.
    [[nodiscard]] PostResult result(std::string_view outcome) const;
    // The time since it was created.
    [[nodiscard]] Milliseconds age() const;

  private:
    using Clock = std::chrono::steady_clock;

    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* to) noexcept;
    static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                                 void* to) noexcept;
    static curl_socket_t on_open(void* to, curlsocktype purpose, curl_sockaddr* address) noexcept;
    // Called before each request of the transfer.
    static int on_request(void* to, char* peer, char* local, int peer_port,
                          int local_port) noexcept;

    void set_limits(Milliseconds left);
    void set_route();
    void set_request();
    [[nodiscard]] std::string_view failure_of(CURLcode code) const;

    const SenderSettings& settings_;
    const Post post_;
    const Clock::time_point began_at_ = Clock::now();
    WebhookTarget target_;
    // Declared before the handle, which points to them.
    CurlList headers_;
    CurlList pins_;
    ReplyBound bound_;
    CurlHandle curl_;

    // Of the reply.
    std::string excerpt_;
    std::string retry_after_;
    std::size_t head_size_ = 0;
    std::size_t body_size_ = 0;
    int status_ = 0;              // of a complete head; never a 1xx
    bool was_blocked_ = false;    // the second check rejected an address
    bool lacked_socket_ = false;  // for the last address
};

}  // namespace muster::net
