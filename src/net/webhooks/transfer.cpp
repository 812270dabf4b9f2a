#include "net/webhooks/transfer.hpp"

#include "base/config.h"
#include "base/text.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

namespace muster::net {
namespace {

constexpr std::size_t kExcerpt = 1024;
constexpr std::size_t kMaxBody = std::size_t{64} << 10U;
constexpr std::size_t kMaxPins = 8;
// A kept connection goes to an address that was checked when it was opened.
constexpr long kIdleSeconds = 60;
constexpr long kAliveSeconds = 300;
constexpr std::int64_t kLongestRetrySeconds = std::chrono::seconds(std::chrono::days(30)).count();

CurlList header_list(const Post& post) {
    CurlList list;
    append(list, "Content-Type: application/json");
    append(list, "Expect:");  // otherwise curl waits up to a second before each larger body
    for (const auto& [name, value] : post.headers) {
        if (name.empty() || value.empty() || !is_header_text(name) || !is_header_text(value) ||
            name.find_first_of(": ;") != std::string::npos)
            throw std::invalid_argument("a webhook's header is not valid");
        append(list, std::string(name).append(": ").append(value));
    }
    return list;
}

std::string in_brackets(const IpAddress& address) {
    return address.is_v4() ? address.text() : "[" + address.text() + "]";
}

// Parses seconds or a date (RFC 9110 section 10.2.3).
std::optional<Milliseconds> retry_after_of(const std::string& text) {
    std::int64_t seconds = 0;
    if (!text.empty() &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
        seconds = parse_number<std::int64_t>(text).value_or(kLongestRetrySeconds);
    } else {
        const std::int64_t when = curl_getdate(text.c_str(), nullptr);
        if (when < 0) return std::nullopt;
        seconds = when - Timestamp::now().milliseconds() / 1000;
    }
    return Milliseconds(1000 * std::clamp<std::int64_t>(seconds, 0, kLongestRetrySeconds));
}

std::string class_of(int status) {
    if (status <= 299) return std::to_string(status);
    return status <= 399 ? "http_3xx" : status <= 499 ? "http_4xx" : "http_5xx";
}

}  // namespace

WebhookTransfer::WebhookTransfer(Post post, const SenderSettings& settings)
    : settings_(settings), post_(std::move(post)), headers_(header_list(post_)) {}

bool WebhookTransfer::read_url() {
    auto read = read_webhook_url(post_.url, settings_.policy);
    auto* target = std::get_if<WebhookTarget>(&read);
    if (target == nullptr) return false;
    target_ = std::move(*target);
    return true;
}

std::string WebhookTransfer::name_to_look_up() const {
    return target_.address ? "" : target_.host;
}

bool WebhookTransfer::pin(const std::vector<IpAddress>& addresses) {
    if (!may_connect(target_.is_https, addresses, settings_.policy)) return false;
    std::string line = target_.host + ":" + std::to_string(target_.port);
    char separator = ':';
    for (std::size_t i = 0; i < std::min(addresses.size(), kMaxPins); ++i)
        line.append(1, std::exchange(separator, ',')).append(in_brackets(addresses[i]));
    if (!addresses.empty()) append(pins_, line);
    return true;
}

CURL* WebhookTransfer::prepare() {
    const Milliseconds left = std::chrono::seconds(settings_.total_seconds) - age();
    if (left <= Milliseconds(0)) return nullptr;
    curl_ = new_curl();
    set_limits(left);
    set_route();
    set_request();
    CURL* curl = curl_.get();
    set(curl, CURLOPT_PRIVATE, this);
    set(curl, CURLOPT_WRITEFUNCTION, on_body);
    set(curl, CURLOPT_WRITEDATA, this);
    set(curl, CURLOPT_HEADERFUNCTION, on_header);
    set(curl, CURLOPT_HEADERDATA, this);
    bound_.watch(curl);
    return curl;
}

void WebhookTransfer::set_limits(Milliseconds left) {
    CURL* curl = curl_.get();
    const Milliseconds to_connect = std::chrono::seconds(settings_.connect_seconds);
    set(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
    set(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(left, to_connect).count()));
    set(curl, CURLOPT_MAXAGE_CONN, kIdleSeconds);
    set(curl, CURLOPT_MAXLIFETIME_CONN, kAliveSeconds);
    set(curl, CURLOPT_PREREQFUNCTION, on_request);
    set(curl, CURLOPT_PREREQDATA, this);
}

// Restricts the transfer to the checked addresses.
void WebhookTransfer::set_route() {
    CURL* curl = curl_.get();
    harden(curl, target_.is_https ? "https" : "http");
    set(curl, CURLOPT_CURLU, target_.url.get());
    if (pins_) set(curl, CURLOPT_RESOLVE, pins_.get());
    set(curl, CURLOPT_OPENSOCKETFUNCTION, on_open);
    set(curl, CURLOPT_OPENSOCKETDATA, this);
    trust(curl, settings_.ca_file);
}

void WebhookTransfer::set_request() {
    CURL* curl = curl_.get();
    // With HTTP/2, all posts to a receiver would share one connection: an error would affect all of
    // them, and on_open() could not check a socket per post.
    set(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(curl, CURLOPT_USERAGENT, "Muster-Webhooks/" MUSTER_VERSION);
    set(curl, CURLOPT_HTTPHEADER, headers_.get());
    set(curl, CURLOPT_POST, 1L);
    set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post_.body->size()));
    set(curl, CURLOPT_POSTFIELDS, post_.body->c_str());
}

std::size_t WebhookTransfer::on_body(char* data, std::size_t size, std::size_t count,
                                     void* to) noexcept {
    auto& self = *static_cast<WebhookTransfer*>(to);
    const std::string_view piece(data, size * count);
    self.excerpt_ += piece.substr(0, kExcerpt - self.excerpt_.size());
    self.body_size_ += piece.size();
    self.bound_.add_body(piece.size());
    // 0 ends the transfer; the connection is dropped.
    return self.body_size_ > kMaxBody ? 0 : piece.size();
}

std::size_t WebhookTransfer::on_header(char* data, std::size_t size, std::size_t count,
                                       void* to) noexcept {
    constexpr std::string_view kRetryAfter = "retry-after:";
    auto& self = *static_cast<WebhookTransfer*>(to);
    const std::string_view line(data, size * count);
    self.head_size_ += line.size();
    if (self.head_size_ > kMaxHead) return 0;
    if (trimmed_ascii(line).empty()) {  // the end of the head
        long status = 0;
        curl_easy_getinfo(self.curl_.get(), CURLINFO_RESPONSE_CODE, &status);
        if (status >= 200) self.status_ = static_cast<int>(status);
    } else if (equal_ignoring_case(line.substr(0, kRetryAfter.size()), kRetryAfter)) {
        self.retry_after_ = trimmed_ascii(line.substr(kRetryAfter.size()));
    }
    return line.size();
}

curl_socket_t WebhookTransfer::on_open(void* to, curlsocktype /*purpose*/,
                                       curl_sockaddr* peer) noexcept {
    auto& self = *static_cast<WebhookTransfer*>(to);
    const auto address = IpAddress::of(&peer->addr, peer->addrlen);
    if (!address || !may_connect(self.target_.is_https, *address, self.settings_.policy)) {
        self.was_blocked_ = true;
        return CURL_SOCKET_BAD;
    }
    const curl_socket_t opened =
        socket(peer->family, peer->socktype | SOCK_CLOEXEC, peer->protocol);
    // Without IPv6, curl continues with the next address.
    self.lacked_socket_ = opened == CURL_SOCKET_BAD && errno != EAFNOSUPPORT;
    return opened;
}

// curl sends a post again if a kept connection closes before the reply begins, up to five times: to
// the receiver, each of them is a complete post. So a repetition uses a new connection, which curl
// does not repeat.
int WebhookTransfer::on_request(void* to, char* /*peer*/, char* /*local*/, int /*peer_port*/,
                                int /*local_port*/) noexcept {
    const auto& self = *static_cast<WebhookTransfer*>(to);
    const CURLcode code = curl_easy_setopt(self.curl_.get(), CURLOPT_FRESH_CONNECT, 1L);
    return code == CURLE_OK ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

std::string_view WebhookTransfer::failure_of(CURLcode code) const {
    if (was_blocked_) return "blocked_address";
    long port = 0;               // set once TCP is connected, even before TLS
    curl_off_t reply_began = 0;  // set once a byte of a reply was read
    switch (code) {
        case CURLE_OPERATION_TIMEDOUT:
            curl_easy_getinfo(curl_.get(), CURLINFO_PRIMARY_PORT, &port);
            return port == 0 ? "connect" : "timeout";
        case CURLE_COULDNT_RESOLVE_HOST:
            return "dns";
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
            return "tls";
        case CURLE_COULDNT_CONNECT:
            return lacked_socket_ ? kInternalError : "connect";
        case CURLE_OUT_OF_MEMORY:  // also if a header line is longer than curl's buffer
            curl_easy_getinfo(curl_.get(), CURLINFO_STARTTRANSFER_TIME_T, &reply_began);
            return reply_began == 0 ? kInternalError : "connect";
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_FAILED_INIT:
            return kInternalError;
        default:
            return "connect";
    }
}

PostResult WebhookTransfer::result(CURLcode code) const {
    // The head of a reply is enough. But a late reply does not count: otherwise a receiver could
    // delay every post up to the limit and still be called healthy. Nor does one with chunks that
    // have much more than the body.
    if (status_ == 0 || code == CURLE_OPERATION_TIMEDOUT || bound_.is_exceeded())
        return result(failure_of(code));
    PostResult result = this->result(class_of(status_));
    result.status = status_;
    result.excerpt = excerpt_;
    result.retry_after = retry_after_of(retry_after_);
    return result;
}

PostResult WebhookTransfer::result(std::string_view outcome) const {
    PostResult result;
    result.tag = post_.tag;
    result.outcome = outcome;
    result.duration = age();
    return result;
}

Milliseconds WebhookTransfer::age() const {
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - began_at_);
}

}  // namespace muster::net
