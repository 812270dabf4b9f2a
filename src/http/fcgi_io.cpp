#include "http/fcgi_io.hpp"

#include "base/log.hpp"
#include "base/text.hpp"
#include "http/fcgi_records.hpp"

#include <fcgiapp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace muster::http {
namespace {

// nginx sends a request at once. Other peers must not hold a worker.
constexpr std::chrono::seconds kHeadTime{10};  // until the request's head is complete
constexpr int kUsualHeadMilliseconds = 2;      // nginx connects a moment before it writes
// After a peer has used up a whole pause: `pause` limits the rest of this batch, and both limit the
// next one.
constexpr Patience kImpatience{std::chrono::milliseconds(50), std::chrono::seconds(1)};
// Connections that one call of take() accepts. A worker waits for the head of each one, so peers
// that connect again and again without a request would otherwise keep it in that call.
constexpr std::size_t kMostAccepted = 64;
constexpr std::size_t kMostPending = 64;
constexpr std::size_t kMostDeferred = 320;
constexpr int kShareCheckMilliseconds = 5;      // while a request waits for a share
constexpr std::chrono::seconds kFinishTime{1};  // for heads that are not complete

std::string param(const FCGX_Request& request, const char* name) {
    const char* value = FCGX_GetParam(name, request.envp);
    return value ? value : "";
}

std::optional<std::string> optional_param(const FCGX_Request& request, const char* name) {
    const char* value = FCGX_GetParam(name, request.envp);
    return value ? std::optional<std::string>(value) : std::nullopt;
}

// nullopt also for an empty value: nginx sends "" for an unknown value.
std::optional<std::string> filled_param(const FCGX_Request& request, const char* name) {
    auto value = optional_param(request, name);
    return value && value->empty() ? std::nullopt : value;
}

// All values of a repeated header, joined (RFC 9110 "Field Lines"). A joined Origin is not a valid
// origin. FCGX_GetParam would return only the first value.
std::optional<std::string> joined_param(const FCGX_Request& request, std::string_view name) {
    std::optional<std::string> joined;
    for (char** place = request.envp; *place; ++place) {
        const std::string_view entry(*place);
        if (!entry.starts_with(name) || entry.substr(name.size(), 1) != "=") continue;
        const std::string_view value = entry.substr(name.size() + 1);
        joined = joined ? *joined + ", " + std::string(value) : std::string(value);
    }
    return joined;
}

// nginx's $msec, "1763700000.123": the time at which it received the request.
Timestamp arrival(const FCGX_Request& request) {
    std::string text = param(request, "REQUEST_TIME_MSEC");
    text.erase(std::remove(text.begin(), text.end(), '.'), text.end());
    const auto milliseconds = parse_number<std::int64_t>(text);
    return milliseconds ? Timestamp::of_wall_clock(*milliseconds) : Timestamp::now();
}

std::optional<std::string> read_body(FCGX_Request& request, std::size_t length, std::size_t limit) {
    if (length > limit) return std::nullopt;
    std::string body(length, '\0');
    std::size_t got = 0;
    while (got < length) {
        const int piece = static_cast<int>(std::min<std::size_t>(length - got, 1U << 20U));
        const int count = FCGX_GetStr(body.data() + got, piece, request.in);
        if (count <= 0) throw Aborted{};
        got += static_cast<std::size_t>(count);
    }
    return body;
}

// What a browser says about itself and its page.
void set_page(Request& request, const FCGX_Request& fcgi) {
    request.cookie = param(fcgi, "HTTP_COOKIE");
    request.origin = joined_param(fcgi, "HTTP_ORIGIN");
    request.referer = joined_param(fcgi, "HTTP_REFERER");
    request.fetch_site = joined_param(fcgi, "HTTP_SEC_FETCH_SITE");
    request.has_console_header = param(fcgi, "HTTP_X_MUSTER_CONSOLE") == "1";
    request.user_agent = param(fcgi, "HTTP_USER_AGENT");
    request.is_prefetch = names_prefetch(param(fcgi, "HTTP_SEC_PURPOSE")) ||
                          names_prefetch(param(fcgi, "HTTP_PURPOSE")) ||
                          names_prefetch(param(fcgi, "HTTP_X_MOZ"));
}

Request make_request(FCGX_Request& fcgi) {
    Request request;
    request.method = method_of(param(fcgi, "REQUEST_METHOD"));
    const std::string uri = param(fcgi, "REQUEST_URI");
    request.path = uri.substr(0, uri.find('?'));
    request.query = param(fcgi, "QUERY_STRING");
    request.content_type = param(fcgi, "CONTENT_TYPE");
    request.content_encoding = joined_param(fcgi, "HTTP_CONTENT_ENCODING").value_or("");
    request.repeated_headers = repeated_headers(fcgi.envp);
    request.authorization = param(fcgi, "HTTP_AUTHORIZATION");
    request.has_idempotency_key = FCGX_GetParam("HTTP_IDEMPOTENCY_KEY", fcgi.envp) != nullptr;
    request.idempotency_key = param(fcgi, "HTTP_IDEMPOTENCY_KEY");
    request.if_none_match = param(fcgi, "HTTP_IF_NONE_MATCH");
    request.if_match = optional_param(fcgi, "HTTP_IF_MATCH");
    request.organization = optional_param(fcgi, "HTTP_X_ORGANIZATION");
    request.has_expect_organization =
        FCGX_GetParam("HTTP_X_EXPECT_ORGANIZATION", fcgi.envp) != nullptr;
    request.expect_organization = param(fcgi, "HTTP_X_EXPECT_ORGANIZATION");
    request.signature = param(fcgi, "HTTP_X_SVC_SIGNATURE");
    set_page(request, fcgi);
    request.geo_country = filled_param(fcgi, "GEO_COUNTRY");
    request.geo_region = filled_param(fcgi, "GEO_REGION");
    request.request_id = param(fcgi, "REQUEST_ID");
    request.remote_address = param(fcgi, "REMOTE_ADDR");
    request.arrived = arrival(fcgi);
    request.is_credential_check = param(fcgi, "CREDENTIAL_CHECK") == "1";
    request.charged_policy = param(fcgi, "CHARGED_POLICY");
    request.charged_rate = param(fcgi, "CHARGED_RATE");
    request.announced_length = parse_number<std::size_t>(param(fcgi, "CONTENT_LENGTH"));
    if (!request.is_credential_check) {
        request.content_length = request.announced_length.value_or(0);
    }
    request.read_body = [&fcgi, length = request.content_length](std::size_t limit) {
        return read_body(fcgi, length, limit);
    };
    return request;
}

// What has arrived of a request.
struct Arrived {
    RequestHead head;
    bool is_whole = false;  // no read of the body waits
};

// Checks the bytes that have arrived, without taking them.
Arrived look_at_head(int fd) {
    thread_local std::string buffer(kMostHeadBytes, '\0');
    constexpr std::size_t kUsual = std::size_t{16} << 10U;
    for (const std::size_t size : {kUsual, kMostHeadBytes}) {
        const ssize_t got = recv(fd, buffer.data(), size, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) return {RequestHead::Incomplete};
        if (got <= 0) return {RequestHead::Invalid};
        const auto count = static_cast<std::size_t>(got);
        const auto bytes = std::string_view(buffer).substr(0, count);
        const RequestHead head = check_request_head(bytes);
        if (head == RequestHead::Complete) return {head, has_whole_body(bytes)};
        if (head == RequestHead::Invalid || count < size) return {head};
    }
    return {RequestHead::Invalid};  // too long
}

// The same, after a short wait for a peer that has just connected.
Arrived await_head(int fd) {
    const Arrived arrived = look_at_head(fd);
    if (arrived.head != RequestHead::Incomplete) return arrived;
    pollfd readable{fd, POLLIN, 0};
    poll(&readable, 1, kUsualHeadMilliseconds);
    return look_at_head(fd);
}

void limit_pauses(int fd, std::chrono::milliseconds pause) {
    const timeval limit{pause.count() / 1000, pause.count() % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

// nginx treats a closed connection as the end of the reply's body. An invalid record makes nginx
// abort its own connection to the client. The record does not fit if the socket is full. The client
// then sees that the body is shorter than its Content-Length. Never waits.
void break_connection(const FCGX_Request& fcgi) {
    constexpr std::array<char, 8> kInvalidRecord{};
    ::send(fcgi.ipcFd, kInvalidRecord.data(), kInvalidRecord.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

// A connection and its request, from accept to close.
struct FcgiServer::Connection {
    FCGX_Request fcgi{};
    bool is_whole = false;  // the end of its body has arrived

    // Without a listener: libfcgi must not accept another connection instead of a broken one.
    Connection() { FCGX_InitRequest(&fcgi, -1, 0); }
    ~Connection() { FCGX_Free(&fcgi, 1); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // False if the peer sent no request.
    bool begin(int fd) {
        fcgi.ipcFd = fd;
        fcgi.keepConnection = 1;  // otherwise FCGX_Accept_r would close the given connection
        return FCGX_Accept_r(&fcgi) >= 0;
    }

    // Called when a reply fails after it has begun. Breaks the connection, so that nginx and the
    // client see an aborted transfer instead of a short, complete one.
    void cut(const char* reason) {
        log_event(LogLevel::Error, "reply.interrupted", {{"reason", reason}});
        break_connection(fcgi);
        end();
    }

    void answer(const Request& request, const std::optional<Reply>& reply, Patience patience) {
        try {
            const auto id = static_cast<std::uint16_t>(fcgi.requestId);
            if (reply) send_reply(fcgi.ipcFd, id, request, *reply, patience);
        } catch (const std::exception& error) {
            cut(error.what());
            return;
        }
        end();
    }

  private:
    // libfcgi would shut the connection down and look for more bytes first.
    void end() {
        close(fcgi.ipcFd);
        FCGX_Free(&fcgi, 0);
        FCGX_InitRequest(&fcgi, -1, 0);
    }
};

// Watches a read or a write, which takes from the time of the batch. If it takes as long as a
// pause, the other peers of the batch must be faster: together they would hold the worker for
// minutes.
struct FcgiServer::Watch {
    FcgiServer& server;
    Clock::time_point begin = Clock::now();
    std::optional<ReadTimer::Limit> limit = std::nullopt;  // of a read that may wait

    explicit Watch(FcgiServer& whose) : server(whose) {}
    Watch(FcgiServer& whose, const Connection& read) : server(whose) {
        if (!read.is_whole) {
            limit.emplace(server.timer_, read.fcgi.ipcFd, server.patience_.total);
        }
    }
    ~Watch() {
        using std::chrono::milliseconds;
        const auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
        auto& left = server.patience_.total;
        left = std::max(left - spent, kImpatience.pause);
        if (spent >= server.usual_patience_.pause || left == kImpatience.pause) server.hurry();
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
};

FcgiServer::FcgiServer(int listener, HasRoom has_room, Patience patience)
    : has_room_(std::move(has_room)),
      listener_(listener),
      usual_patience_(patience),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    // Otherwise libfcgi waits for the peer to close first when it rejects a request.
    setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 1);
    FCGX_Init();
    // Exclusive: a connection wakes one worker instead of all that wait for the listener.
    epoll_event event{};
    event.events = EPOLLIN | EPOLLEXCLUSIVE;
    if (epoll_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, listener, &event) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }
}

FcgiServer::~FcgiServer() {
    for (const Pending& pending : pending_) close(pending.fd);
    close(epoll_);
}

FcgiServer::Connection& FcgiServer::connection(std::size_t place) {
    if (connections_.size() <= place) connections_.resize(place + 1);
    if (!connections_[place]) connections_[place] = std::make_unique<Connection>();
    return *connections_[place];
}

// Takes the complete requests of waiting connections, at most `most`. Request i belongs to
// connections_[i].
std::vector<Request> FcgiServer::take(std::size_t most) {
    std::vector<Request> requests;
    // These requests arrived during a pause, and their peers may be silent too. A worker that takes
    // one request at a time has no batch to delay.
    patience_ = std::exchange(has_hurried_, false) && most > 1 ? kImpatience : usual_patience_;
    // Half of the places are for new connections: otherwise one organization's deferred requests
    // would fill each batch.
    if (!deferred_.empty()) take_deferred(requests, most > 1 ? most / 2 : most);
    if (!pending_.empty()) take_pending(requests, most);
    for (std::size_t i = 0; i < kMostAccepted && !is_closing_ && requests.size() < most; ++i) {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) break;  // no connection is left, or another worker was faster
        const auto [head, is_whole] = await_head(fd);
        if (head == RequestHead::Complete) {
            begin(fd, is_whole, requests);
        } else if (head == RequestHead::Incomplete) {
            keep_pending(fd);
        } else {
            close(fd);
        }
    }
    return requests;
}

void FcgiServer::take_pending(std::vector<Request>& requests, std::size_t most) {
    const auto now = Clock::now();
    for (Pending& pending : std::exchange(pending_, {})) {
        const auto [head, is_whole] = look_at_head(pending.fd);
        pending.is_complete = head == RequestHead::Complete;
        if (pending.is_complete && requests.size() < most) {
            epoll_ctl(epoll_, EPOLL_CTL_DEL, pending.fd, nullptr);
            begin(pending.fd, is_whole, requests);
        } else if (pending.is_complete ||
                   (head == RequestHead::Incomplete && now < pending.until)) {
            pending_.push_back(pending);
        } else {
            close(pending.fd);
        }
    }
}

bool FcgiServer::has_pending() const {
    return !pending_.empty() || std::any_of(deferred_.begin(), deferred_.end(),
                                            [&](const Deferred& d) { return is_due(d); });
}

bool FcgiServer::is_due(const Deferred& deferred) const {
    const Deferral& deferral = deferred.request.deferral.value();
    const auto now = Clock::now();
    if (now >= deferral.until) return true;
    if (now < deferral.not_before) return false;
    return deferral.share.empty() || !has_room_ || has_room_(deferral.share);
}

void FcgiServer::take_deferred(std::vector<Request>& requests, std::size_t most) {
    const auto now = Clock::now();
    for (Deferred& deferred : std::exchange(deferred_, {})) {
        if (requests.size() == most || !is_due(deferred)) {
            deferred_.push_back(std::move(deferred));
            continue;
        }
        const std::size_t place = requests.size();
        if (connections_.size() <= place) connections_.resize(place + 1);
        connections_[place] = std::move(deferred.connection);
        limit_pauses(connections_[place]->fcgi.ipcFd, patience_.pause);
        deferred.request.may_wait = now < deferred.request.deferral->until;
        requests.push_back(std::move(deferred.request));
    }
}

// Keeps the request with its connection, for at most kLongestWait since the first time, or until
// its turn.
void FcgiServer::defer(Request request, Deferral deferral) {
    if (deferral.body) {
        request.read_body = [body = std::move(*deferral.body)](std::size_t limit) {
            return body.size() > limit ? std::nullopt : std::optional(body);
        };
        deferral.body.reset();
        request.content_encoding.clear();
    }
    deferral.times = request.deferral ? request.deferral->times + 1 : 1;
    const auto longest = Clock::now() + kLongestWait;
    const auto until = deferral.is_turn ? std::max(longest, deferral.not_before) : longest;
    deferral.until = request.deferral ? request.deferral->until : until;
    auto connection = std::move(connections_[deferral.index]);
    request.deferral = std::move(deferral);
    deferred_.push_back({std::move(connection), std::move(request)});
}

void FcgiServer::begin(int fd, bool is_whole, std::vector<Request>& requests) {
    Connection& taken = connection(requests.size());
    taken.is_whole = is_whole;
    if (!is_whole) limit_pauses(fd, patience_.pause);
    if (!taken.begin(fd)) return;
    requests.push_back(make_request(taken.fcgi));
    requests.back().read_body = [this, &taken,
                                 read = requests.back().read_body](std::size_t limit) {
        const Watch watch(*this, taken);
        return read(limit);
    };
    requests.back().may_wait = !is_closing_ && deferred_.size() < kMostDeferred;
}

void FcgiServer::hurry() {
    has_hurried_ = true;
    patience_.pause = kImpatience.pause;
    for (const auto& waiting : connections_) {
        if (waiting && waiting->fcgi.ipcFd >= 0) {
            limit_pauses(waiting->fcgi.ipcFd, patience_.pause);
        }
    }
}

void FcgiServer::keep_pending(int fd) {
    if (pending_.size() == kMostPending) {
        close(pending_.front().fd);
        pending_.erase(pending_.begin());
    }
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;  // once for each piece: the bytes stay unread
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    pending_.push_back({fd, Clock::now() + kHeadTime});
}

bool FcgiServer::wait(const sigset_t& unblocked) const {
    constexpr int kExpiryCheck = 1000;  // milliseconds
    epoll_event event{};
    const bool is_ready = std::any_of(pending_.begin(), pending_.end(),
                                      [](const Pending& p) { return p.is_complete; }) ||
                          std::any_of(deferred_.begin(), deferred_.end(),
                                      [&](const Deferred& d) { return is_due(d); });
    int most = pending_.empty() ? -1 : kExpiryCheck;
    if (!deferred_.empty()) most = kShareCheckMilliseconds;
    if (is_ready) most = 0;
    return epoll_pwait(epoll_, &event, 1, most, &unblocked) >= 0;
}

void FcgiServer::finish(std::size_t most, const Handler& handler,
                        std::chrono::milliseconds longest_wait) {
    is_closing_ = true;
    epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
    const auto begin = Clock::now();
    for (Deferred& deferred : deferred_) {
        Deferral& deferral = deferred.request.deferral.value();
        deferral.until = deferral.is_turn ? begin : std::min(deferral.until, begin + longest_wait);
    }
    while ((!pending_.empty() && Clock::now() < begin + kFinishTime) ||
           (!deferred_.empty() && Clock::now() < begin + kLongestWait)) {
        epoll_event event{};
        epoll_wait(epoll_, &event, 1, deferred_.empty() ? 50 : kShareCheckMilliseconds);
        serve(most, handler);
    }
}

// Reads the rest of the body. nginx sends the whole body before it reads the reply. If the
// connection were closed earlier, nginx would see a broken pipe and answer 503.
void FcgiServer::drain(Connection& connection) {
    const Watch watch(*this, connection);
    std::array<char, 65'536> rest{};
    while (FCGX_GetStr(rest.data(), static_cast<int>(rest.size()), connection.fcgi.in) > 0) {
    }
}

std::size_t FcgiServer::serve(std::size_t most, const Handler& handler) {
    std::vector<Request> requests = take(most);
    if (requests.empty()) return 0;
    std::vector<bool> is_answered(requests.size());
    const auto answer = [&](std::size_t index, const std::optional<Reply>& reply) {
        is_answered[index] = true;
        drain(connection(index));
        const Watch watch(*this);
        connection(index).answer(requests[index], reply, patience_);
    };
    try {
        for (Deferral& deferral : handler(requests, answer)) {
            Request& deferred = requests[deferral.index];
            is_answered[deferral.index] = true;
            defer(std::move(deferred), std::move(deferral));
        }
    } catch (const std::exception& error) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (!is_answered[i]) connection(i).cut(error.what());
        }
    }
    return requests.size();
}

}  // namespace muster::http
