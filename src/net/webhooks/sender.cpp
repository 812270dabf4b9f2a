#include "net/webhooks/sender.hpp"

#include "base/log.hpp"
#include "net/resolver.hpp"
#include "net/webhooks/transfer.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <new>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace muster::net {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kKeptConnections = 256;
constexpr std::size_t kKeptNames = 1024;
// Longer than the caller usually takes between two calls of wait().
constexpr std::chrono::seconds kLongestHalt{1};
constexpr std::chrono::minutes kLogInterval{1};

void check_multi(CURLMcode code) {
    if (code != CURLM_OK)
        throw std::runtime_error(std::string("curl: ") + curl_multi_strerror(code));
}

// Why an attempt with this code is an internal error.
std::string_view reason_of(CURLcode code) {
    return code == CURLE_COULDNT_CONNECT ? "no socket" : curl_easy_strerror(code);
}

void prepare_process() {
    // A receiver that closes a kept connection must not end the program: OpenSSL writes without
    // MSG_NOSIGNAL, and CURLOPT_NOSIGNAL does not change the signal.
    std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): cannot fail for SIGPIPE
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);  // otherwise some posts fail with "internal"
}

}  // namespace

struct WebhookSender::Impl {
    struct FreeMulti {
        void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
    };
    struct Known {
        std::vector<IpAddress> addresses;
        Clock::time_point until;
    };

    explicit Impl(SenderSettings given)
        : settings(std::move(given)), resolver(settings.policy.dns) {
        prepare_process();
        initialize_curl();
        multi.reset(curl_multi_init());
        if (!multi) throw std::bad_alloc();
        check_multi(curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, kKeptConnections));
    }
    ~Impl() {
        for (const auto& [transfer, owner] : transfers) {
            if (transfer->curl() != nullptr)
                curl_multi_remove_handle(multi.get(), transfer->curl());
        }
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    template <class Step>
    void run(WebhookTransfer& transfer, const Step& step) noexcept;
    void find_route(WebhookTransfer& transfer);
    void look_up(const std::string& name);
    void use_addresses(const std::string& name, const std::vector<IpAddress>& addresses);
    void connect(WebhookTransfer& transfer, const std::vector<IpAddress>& addresses);
    void finish(WebhookTransfer& transfer, PostResult result) noexcept;
    void reserve_results();
    std::vector<PostResult> take_results();
    void proceed();
    void complete(WebhookTransfer& transfer, CURLcode code);
    void finish_late(WebhookTransfer& transfer, std::string_view outcome);
    void log_not_sent(std::string_view reason) noexcept;
    void pause(Milliseconds at_most);

    const SenderSettings settings;
    Resolver resolver;
    std::unique_ptr<CURLM, FreeMulti> multi;  // must outlive the handles in it
    std::unordered_map<WebhookTransfer*, std::unique_ptr<WebhookTransfer>> transfers;
    std::map<std::string, std::vector<WebhookTransfer*>>
        waiting;  // by the name whose addresses they wait for
    std::map<std::string, Known> known;
    std::vector<PostResult> results;
    Clock::time_point last_proceeded = Clock::now();
    bool was_halted = false;  // before the current proceed()
    Clock::time_point next_line{};
    std::int64_t unlogged = 0;  // internal errors since the last line
};

// One line a minute: the same error usually ends every attempt.
void WebhookSender::Impl::log_not_sent(std::string_view reason) noexcept {
    ++unlogged;
    const auto now = Clock::now();
    if (now < next_line) return;
    try {
        log_event(LogLevel::Error, "webhook.not_sent",
                  {{"attempts", unlogged}, {"reason", reason}});
    } catch (const std::exception&) {
        return;  // without memory there is no line
    }
    next_line = now + kLogInterval;
    unlogged = 0;
}

// Runs a step of the transfer, which may finish it. If the step throws, the result is "internal":
// every post has a result.
template <class Step>
void WebhookSender::Impl::run(WebhookTransfer& transfer, const Step& step) noexcept {
    try {
        step();
    } catch (const std::exception& error) {
        finish(transfer, transfer.result(kInternalError));
        log_not_sent(error.what());
    }
}

void WebhookSender::Impl::find_route(WebhookTransfer& transfer) {
    if (!transfer.read_url()) return finish(transfer, transfer.result("blocked_address"));
    const std::string name = transfer.name_to_look_up();
    if (name.empty()) return connect(transfer, {});
    const auto found = known.find(name);
    if (found != known.end() && found->second.until > Clock::now())
        return connect(transfer, found->second.addresses);
    auto& others = waiting[name];
    others.push_back(&transfer);
    if (others.size() == 1) look_up(name);
}

void WebhookSender::Impl::look_up(const std::string& name) {
    const std::chrono::seconds at_most(std::min(settings.connect_seconds, settings.total_seconds));
    try {
        resolver.look_up(name, at_most,
                         [this, name](const auto& addresses) { use_addresses(name, addresses); });
    } catch (...) {
        waiting.erase(name);
        throw;
    }
}

void WebhookSender::Impl::use_addresses(const std::string& name,
                                        const std::vector<IpAddress>& addresses) {
    const auto waited = waiting.extract(name);
    if (waited.empty()) return;
    for (WebhookTransfer* transfer : waited.mapped()) {
        if (addresses.empty()) {
            finish_late(*transfer, "dns");
        } else {
            run(*transfer, [&] { connect(*transfer, addresses); });
        }
    }
    const auto now = Clock::now();
    std::erase_if(known, [&](const auto& entry) { return entry.second.until <= now; });
    if (!addresses.empty() && known.size() < kKeptNames)
        known[name] = {addresses, now + std::chrono::seconds(settings.cache_seconds)};
}

void WebhookSender::Impl::connect(WebhookTransfer& transfer,
                                  const std::vector<IpAddress>& addresses) {
    if (!transfer.pin(addresses)) return finish(transfer, transfer.result("blocked_address"));
    CURL* curl = transfer.prepare();
    if (curl == nullptr) return finish_late(transfer, "timeout");
    check_multi(curl_multi_add_handle(multi.get(), curl));
}

void WebhookSender::Impl::finish(WebhookTransfer& transfer, PostResult result) noexcept {
    results.push_back(std::move(result));  // reserve_results() has reserved the memory
    if (transfer.curl() != nullptr) curl_multi_remove_handle(multi.get(), transfer.curl());
    transfers.erase(&transfer);
}

// For one more transfer, so that finish() needs no memory.
void WebhookSender::Impl::reserve_results() {
    const std::size_t most = results.size() + transfers.size() + 1;
    if (most > results.capacity()) results.reserve(2 * most);
}

std::vector<PostResult> WebhookSender::Impl::take_results() {
    std::vector<PostResult> next;
    next.reserve(transfers.size());
    return std::exchange(results, std::move(next));
}

void WebhookSender::Impl::proceed() {
    was_halted = Clock::now() - last_proceeded > kLongestHalt;
    resolver.proceed();
    int running = 0;
    check_multi(curl_multi_perform(multi.get(), &running));
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        void* owner = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        auto& transfer = *static_cast<WebhookTransfer*>(owner);
        run(transfer, [&] { complete(transfer, message->data.result); });
    }
    last_proceeded = Clock::now();
}

void WebhookSender::Impl::complete(WebhookTransfer& transfer, CURLcode code) {
    PostResult result = transfer.result(code);
    if (code == CURLE_OPERATION_TIMEDOUT) return finish_late(transfer, result.outcome);
    const bool is_internal = result.outcome == kInternalError;
    finish(transfer, std::move(result));
    if (is_internal) log_not_sent(reason_of(code));
}

// The time is up. If the caller did something else meanwhile, replies were not read: then this says
// nothing about the receiver or the name servers.
void WebhookSender::Impl::finish_late(WebhookTransfer& transfer, std::string_view outcome) {
    const bool is_internal = was_halted && transfer.age() > kLongestHalt;
    finish(transfer, transfer.result(is_internal ? kInternalError : outcome));
    if (is_internal) log_not_sent("replies were not read in time");
}

void WebhookSender::Impl::pause(Milliseconds at_most) {
    std::vector<curl_waitfd> sockets;
    for (const pollfd& socket : resolver.sockets()) {
        const auto events = static_cast<unsigned>(socket.events);
        const unsigned reads = (events & POLLIN) != 0 ? CURL_WAIT_POLLIN : 0U;
        const unsigned writes = (events & POLLOUT) != 0 ? CURL_WAIT_POLLOUT : 0U;
        sockets.push_back({socket.fd, static_cast<short>(reads | writes), 0});
    }
    const auto longest = resolver.pause(at_most);
    check_multi(curl_multi_poll(multi.get(), sockets.data(), static_cast<unsigned>(sockets.size()),
                                static_cast<int>(longest.count()), nullptr));
}

WebhookSender::WebhookSender(SenderSettings settings)
    : impl_(std::make_unique<Impl>(std::move(settings))) {}

WebhookSender::~WebhookSender() = default;

void WebhookSender::start(Post post) {
    auto transfer = std::make_unique<WebhookTransfer>(std::move(post), impl_->settings);
    WebhookTransfer& started = *transfer;
    impl_->reserve_results();
    impl_->transfers.emplace(&started, std::move(transfer));
    impl_->run(started, [&] { impl_->find_route(started); });
}

std::vector<PostResult> WebhookSender::wait(Milliseconds at_most) {
    const auto ends_at = Clock::now() + at_most;
    for (;;) {
        impl_->proceed();
        const auto left = std::chrono::ceil<Milliseconds>(ends_at - Clock::now());
        if (!impl_->results.empty() || left <= Milliseconds(0)) return impl_->take_results();
        impl_->pause(left);
    }
}

std::size_t WebhookSender::pending_count() const {
    return impl_->transfers.size() + impl_->results.size();
}

}  // namespace muster::net
