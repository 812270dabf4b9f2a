// One webhook on its way: how curl is told to send it, what is kept of the answer, and what it
// comes to. For net/webhooks/sender.cpp only, which runs them.
#pragma once

#include "net/address_guard.hpp"
#include "net/curl.hpp"
#include "net/webhooks/sender.hpp"
#include "net/webhooks/target.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

class WebhookTransfer {
  public:
    // `settings` must outlive it. Throws std::invalid_argument for a header that could write a line
    // of its own.
    WebhookTransfer(Post post, const SenderSettings& settings);
    WebhookTransfer(const WebhookTransfer&) = delete;  // curl points to it
    WebhookTransfer& operator=(const WebhookTransfer&) = delete;

    // False: the policy takes no such URL.
    [[nodiscard]] bool read_url();
    // After read_url(): the name to look up, or "" where the host is an address.
    [[nodiscard]] std::string name_to_look_up() const;
    // False: not all of them may be connected to. Else the connection will go to one of them, and
    // to no other; none: the host is an address itself.
    [[nodiscard]] bool pin(const std::vector<IpAddress>& addresses);
    // A handle that is ready for curl_multi_add_handle(); CURLINFO_PRIVATE is this object. nullptr:
    // the time is over already.
    [[nodiscard]] CURL* prepare();

    CURL* curl() const { return curl_.get(); }
    // What it came to as curl says.
    [[nodiscard]] PostResult result(CURLcode code) const;
    // What it came to without curl.
    [[nodiscard]] PostResult result(const char* outcome) const;

  private:
    using Clock = std::chrono::steady_clock;

    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* to) noexcept;
    static std::size_t on_header(char* data, std::size_t size, std::size_t count,
                                 void* to) noexcept;
    static curl_socket_t on_open(void* to, curlsocktype purpose, curl_sockaddr* address) noexcept;

    void set_limits(Milliseconds left);
    void set_route();
    void set_request();
    [[nodiscard]] const char* failure_of(CURLcode code) const;
    [[nodiscard]] Milliseconds age() const;

    const SenderSettings& settings_;
    const Post post_;
    const Clock::time_point began_at_ = Clock::now();
    WebhookTarget target_;
    // Before the handle, which points to them.
    CurlList headers_;
    CurlList pins_;
    CurlHandle curl_;

    // Of the answer.
    std::string excerpt_;
    std::string retry_after_;
    std::size_t head_size_ = 0;
    std::size_t body_size_ = 0;
    int status_ = 0;        // once the head is whole; never a 1xx
    bool is_held_ = false;  // the second fence refused an address
};

}  // namespace muster::net
