#include "net/resolver.hpp"

#include <ares.h>
#include <netinet/in.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace muster::net {
namespace {

using Clock = std::chrono::steady_clock;

// The time-out of a name server in the first round; c-ares doubles it in the second.
constexpr int kTryMilliseconds = 900;
constexpr int kTries = 3;

void check_ares(int status) {
    if (status != ARES_SUCCESS)
        throw std::runtime_error(std::string("name servers: ") + ares_strerror(status));
}

void initialize_ares() {
    static std::once_flag once;
    std::call_once(once, [] { check_ares(ares_library_init(ARES_LIB_INIT_ALL)); });
}

struct FreeAnswer {
    void operator()(ares_addrinfo* answer) const { ares_freeaddrinfo(answer); }
};

void on_socket(void* to, ares_socket_t socket, int reads, int writes) noexcept {
    auto& sockets = *static_cast<std::map<ares_socket_t, short>*>(to);
    const int events = (reads != 0 ? POLLIN : 0) | (writes != 0 ? POLLOUT : 0);
    if (events == 0) {
        sockets.erase(socket);
    } else {
        sockets[socket] = static_cast<short>(events);
    }
}

ares_options options_for(std::map<ares_socket_t, short>& sockets) {
    ares_options options{};
    options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
    options.timeout = kTryMilliseconds;
    options.tries = kTries;
    options.ndomains = 0;
    static char files_then_dns[] = "fb";
    options.lookups = files_then_dns;
    options.sock_state_cb = on_socket;
    options.sock_state_cb_data = &sockets;
    return options;
}

}  // namespace

struct Resolver::Impl {
    // c-ares keeps a pointer to it until its callback, which may come long after the look-up has
    // timed out.
    struct LookUp {
        Clock::time_point ends_at;
        Done done;  // empty after it was called
        bool is_answered = false;
        std::vector<IpAddress> addresses;
    };

    std::map<ares_socket_t, short> sockets;  // events to wait for
    std::list<LookUp> look_ups;              // c-ares holds pointers to the elements
    ares_channel channel = nullptr;

    explicit Impl(const std::string& servers) {
        initialize_ares();
        ares_options options = options_for(sockets);
        check_ares(ares_init_options(&channel, &options,
                                     ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                                         ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS |
                                         ARES_OPT_SOCK_STATE_CB));
        if (servers.empty()) return;
        const int status = ares_set_servers_ports_csv(channel, servers.c_str());
        if (status == ARES_SUCCESS) return;
        ares_destroy(channel);
        check_ares(status);
    }
    ~Impl() { ares_destroy(channel); }  // calls back for all pending look-ups
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    static void on_answer(void* to, int status, int /*timeouts*/, ares_addrinfo* raw) noexcept {
        const std::unique_ptr<ares_addrinfo, FreeAnswer> answer(raw);
        auto& look_up = *static_cast<LookUp*>(to);
        look_up.is_answered = true;
        if (status != ARES_SUCCESS || !answer) return;
        for (const auto* node = answer->nodes; node != nullptr; node = node->ai_next) {
            const auto address = IpAddress::of(node->ai_addr, node->ai_addrlen);
            if (address) look_up.addresses.push_back(*address);
        }
    }
};

Resolver::Resolver(const std::string& servers) : impl_(std::make_unique<Impl>(servers)) {}
Resolver::~Resolver() = default;

void Resolver::look_up(const std::string& name, Milliseconds at_most, Done done) {
    auto& added = impl_->look_ups.emplace_back();
    added.ends_at = Clock::now() + at_most;
    added.done = std::move(done);
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = ARES_AI_NOSORT;
    ares_getaddrinfo(impl_->channel, name.c_str(), nullptr, &hints, Impl::on_answer, &added);
}

void Resolver::proceed() {
    std::vector<pollfd> ready = sockets();
    if (::poll(ready.data(), ready.size(), 0) > 0) {
        for (const pollfd& socket : ready) {
            const auto happened = static_cast<unsigned>(socket.revents);
            const bool reads = (happened & (POLLIN | POLLERR | POLLHUP)) != 0;
            const bool writes = (happened & POLLOUT) != 0;
            if (!reads && !writes) continue;
            ares_process_fd(impl_->channel, reads ? socket.fd : ARES_SOCKET_BAD,
                            writes ? socket.fd : ARES_SOCKET_BAD);
        }
    }
    ares_process_fd(impl_->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // handle time-outs

    // If a `done` throws, the others are called next time.
    const auto now = Clock::now();
    for (auto it = impl_->look_ups.begin(); it != impl_->look_ups.end();) {
        if (it->done && (it->is_answered || it->ends_at <= now)) {
            const Done done = std::exchange(it->done, nullptr);
            const std::vector<IpAddress> addresses = std::move(it->addresses);
            done(addresses);
        }
        it = it->is_answered ? impl_->look_ups.erase(it) : std::next(it);
    }
}

std::vector<pollfd> Resolver::sockets() const {
    std::vector<pollfd> sockets;
    sockets.reserve(impl_->sockets.size());
    for (const auto& [socket, events] : impl_->sockets) sockets.push_back({socket, events, 0});
    return sockets;
}

Milliseconds Resolver::pause(Milliseconds at_most) const {
    const auto now = Clock::now();
    Milliseconds pause = at_most;
    for (const auto& look_up : impl_->look_ups) {
        if (look_up.is_answered) return Milliseconds(0);
        if (!look_up.done) continue;
        pause = std::min(pause, std::chrono::ceil<Milliseconds>(look_up.ends_at - now));
    }
    pause = std::max(pause, Milliseconds(0));
    timeval limit{pause.count() / 1000, pause.count() % 1000 * 1000};
    timeval next{};
    const timeval* sooner = ares_timeout(impl_->channel, &limit, &next);
    return Milliseconds(sooner->tv_sec * 1000 + (sooner->tv_usec + 999) / 1000);
}

std::vector<IpAddress> resolve(const std::string& name, const std::string& servers,
                               Milliseconds at_most) {
    Resolver resolver(servers);
    std::optional<std::vector<IpAddress>> answer;
    resolver.look_up(name, at_most, [&](const auto& addresses) { answer = addresses; });
    for (resolver.proceed(); !answer; resolver.proceed()) {
        auto sockets = resolver.sockets();
        ::poll(sockets.data(), sockets.size(), static_cast<int>(resolver.pause(at_most).count()));
    }
    return *answer;
}

}  // namespace muster::net
