#include "http/fcgi_io.hpp"

#include "base/log.hpp"
#include "http/fcgi_body.hpp"
#include "http/fcgi_records.hpp"
#include "http/fcgi_request.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
constexpr int kShareCheckMilliseconds = 5;      // while a request waits for a share
constexpr std::chrono::seconds kFinishTime{1};  // for heads that are not complete
// For what was accepted. musterd kills a worker after 30 seconds, in which it also writes its sums.
constexpr std::chrono::seconds kLongestFinish{15};

enum class Arrived : std::uint8_t {
    Part,  // of the bytes that wait
    All,
    Last  // no more will come, or more than a head has
};

// Adds a piece of the bytes that have arrived.
Arrived receive_piece(int fd, std::string& bytes) {
    thread_local std::array<char, std::size_t{16} << 10U> piece;
    const ssize_t got = recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got <= 0) return got < 0 && errno == EAGAIN ? Arrived::All : Arrived::Last;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (bytes.size() >= kMostHeadBytes) return Arrived::Last;
    return static_cast<std::size_t>(got) == piece.size() ? Arrived::Part : Arrived::All;
}

std::optional<std::string> read_body(RequestBody& from, std::size_t length, std::size_t limit,
                                     const PeerClock& clock) {
    if (length > limit) return std::nullopt;
    std::string body(length, '\0');
    for (std::size_t got = 0; got < length;) {
        const std::size_t count = from.read(std::span(body).subspan(got), clock);
        if (count == 0) throw Aborted{};
        got += count;
    }
    return body;
}

// nginx treats a closed connection as the end of the reply's body. An invalid record makes nginx
// abort its own connection to the client. The record does not fit if the socket is full. The client
// then sees that the body is shorter than its Content-Length. Never waits.
void break_connection(int fd) {
    constexpr std::array<char, 8> kInvalidRecord{};
    ::send(fd, kInvalidRecord.data(), kInvalidRecord.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

// A connection whose request is being answered.
struct FcgiServer::Connection {
    int fd;
    std::uint16_t request_id;
    RequestBody body;

    Connection(int socket, const RequestHead& head, std::string_view begun)
        : fd(socket), request_id(head.request_id), body(socket, head.request_id, begun) {}
    ~Connection() { end(); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Called when a reply fails after it has begun. Breaks the connection, so that nginx and the
    // client see an aborted transfer instead of a short, complete one.
    void cut(const char* reason) {
        log_event(LogLevel::Error, "reply.interrupted", {{"reason", reason}});
        break_connection(fd);
        end();
    }

    void answer(const Request& request, const std::optional<Reply>& reply, Patience patience) {
        try {
            if (reply) send_reply(fd, request_id, request, *reply, patience);
        } catch (const std::exception& error) {
            cut(error.what());
            return;
        }
        end();
    }

  private:
    void end() {
        if (fd >= 0) close(std::exchange(fd, -1));
    }
};

// A read or a write, which takes from the time of the batch. If it takes as long as a pause, the
// other peers of the batch must be faster: together they would hold the worker for minutes.
struct FcgiServer::Watch {
    FcgiServer& server;
    Clock::time_point begin = Clock::now();

    explicit Watch(FcgiServer& whose) : server(whose) {}
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

// Takes the complete requests of waiting connections, at most `most`. Request i belongs to
// connections_[i].
std::vector<Request> FcgiServer::take(std::size_t most) {
    std::vector<Request> requests;
    // These requests arrived during a pause, and their peers may be silent too. A worker that takes
    // one request at a time has no batch to delay.
    patience_ = std::exchange(has_hurried_, false) && most > 1 ? kImpatience : usual_patience_;
    // Half of the places are for new connections: otherwise one organization's deferred requests
    // would fill each batch.
    const bool has_new = most > 1 && !is_closing_;
    if (!deferred_.empty()) take_deferred(requests, has_new ? most / 2 : most);
    if (!pending_.empty()) take_pending(requests, most);
    for (std::size_t i = 0; i < kMostAccepted && !is_closing_ && requests.size() < most; ++i) {
        const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) break;  // no connection is left, or another worker was faster
        Pending accepted{fd, Clock::now() + kHeadTime};
        const RequestHead head = await_head(accepted);
        if (head.state == HeadState::Complete) {
            begin(accepted, head, requests);
        } else if (head.state == HeadState::Incomplete) {
            keep_pending(std::move(accepted));
        } else {
            close(fd);
        }
    }
    return requests;
}

// Takes what has arrived, until the request's head is complete.
RequestHead FcgiServer::look_at_head(Pending& pending) {
    if (pending.is_complete) return read_head(pending.bytes);
    while (true) {
        const Arrived arrived = receive_piece(pending.fd, pending.bytes);
        RequestHead head = read_head(pending.bytes);
        if (head.state != HeadState::Incomplete || arrived == Arrived::All) return head;
        if (arrived == Arrived::Last) return {HeadState::Invalid};
    }
}

// The same, after a short wait for a peer that has just connected.
RequestHead FcgiServer::await_head(Pending& accepted) {
    RequestHead head = look_at_head(accepted);
    if (head.state != HeadState::Incomplete) return head;
    pollfd readable{accepted.fd, POLLIN, 0};
    poll(&readable, 1, kUsualHeadMilliseconds);
    return look_at_head(accepted);
}

void FcgiServer::take_pending(std::vector<Request>& requests, std::size_t most) {
    const auto now = Clock::now();
    for (Pending& pending : std::exchange(pending_, {})) {
        const RequestHead head = look_at_head(pending);
        pending.is_complete = head.state == HeadState::Complete;
        if (pending.is_complete && requests.size() < most) {
            epoll_ctl(epoll_, EPOLL_CTL_DEL, pending.fd, nullptr);
            begin(pending, head, requests);
        } else if (pending.is_complete ||
                   (head.state == HeadState::Incomplete && now < pending.until)) {
            pending_.push_back(std::move(pending));
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

// Which of the deferred requests to drop: those without an effect whose peers have gone.
std::vector<bool> FcgiServer::abandoned() const {
    std::vector<pollfd> peers;
    for (const Deferred& deferred : deferred_) peers.push_back({deferred.connection->fd, 0, 0});
    poll(peers.data(), peers.size(), 0);
    std::vector<bool> result;
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const bool has_gone = (peers[i].revents & POLLHUP) != 0;
        result.push_back(has_gone && !deferred_[i].request.deferral->has_effect);
    }
    return result;
}

// Abandoned requests are dropped, also if they are not due: they hold the places of others.
void FcgiServer::take_deferred(std::vector<Request>& requests, std::size_t most) {
    const auto now = Clock::now();
    const std::vector<bool> is_abandoned = abandoned();
    std::size_t index = 0;
    for (Deferred& deferred : std::exchange(deferred_, {})) {
        if (is_abandoned[index++]) continue;
        if (requests.size() == most || !is_due(deferred)) {
            deferred_.push_back(std::move(deferred));
            continue;
        }
        connections_.push_back(std::move(deferred.connection));
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
    connection->body.shrink();
    const auto place = place_of(deferral);
    request.deferral = std::move(deferral);
    deferred_.insert(place, {std::move(connection), std::move(request)});
}

// The end of the list, except that a request goes before younger ones that wait for the same share.
// Otherwise one that another worker was faster than would wait for all that came later.
std::vector<FcgiServer::Deferred>::const_iterator FcgiServer::place_of(
    const Deferral& deferral) const {
    return std::find_if(deferred_.begin(), deferred_.end(), [&](const Deferred& other) {
        const Deferral& its = other.request.deferral.value();
        return !its.share.empty() && its.share == deferral.share && its.until > deferral.until;
    });
}

void FcgiServer::begin(const Pending& pending, const RequestHead& head,
                       std::vector<Request>& requests) {
    const auto begun = std::string_view(pending.bytes).substr(head.size);
    connections_.push_back(std::make_unique<Connection>(pending.fd, head, begun));
    Request request = make_request(Parameters(head.pairs));
    request.read_body = [this, &body = connections_.back()->body,
                         length = request.content_length](std::size_t limit) {
        const Watch watch(*this);
        return read_body(body, length, limit, PeerClock(patience_));
    };
    request.may_wait = !is_closing_ && deferred_.size() < kMostDeferred;
    requests.push_back(std::move(request));
}

void FcgiServer::hurry() {
    has_hurried_ = true;
    patience_.pause = kImpatience.pause;
}

void FcgiServer::keep_pending(Pending pending) {
    if (pending_.size() == kMostPending) {
        close(pending_.front().fd);
        pending_.erase(pending_.begin());
    }
    epoll_event event{};
    event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;  // once for each piece
    epoll_ctl(epoll_, EPOLL_CTL_ADD, pending.fd, &event);
    pending_.push_back(std::move(pending));
}

bool FcgiServer::has_complete() const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [](const Pending& one) { return one.is_complete; });
}

bool FcgiServer::wait(const sigset_t& unblocked) const {
    constexpr int kExpiryCheck = 1000;  // milliseconds
    // epoll_pwait() delivers no signal if a connection is ready, so it alone would let a worker
    // with a backlog run on.
    constexpr timespec kAtOnce{};
    if (ppoll(nullptr, 0, &kAtOnce, &unblocked) < 0) return false;
    epoll_event event{};
    const bool is_ready =
        has_complete() || std::any_of(deferred_.begin(), deferred_.end(),
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
    const auto has_work = [&] {
        if (Clock::now() < begin + kFinishTime && !pending_.empty()) return true;
        return !deferred_.empty() || has_complete();
    };
    while (has_work() && Clock::now() < begin + kLongestFinish) {
        epoll_event event{};
        const int pause = deferred_.empty() ? 50 : kShareCheckMilliseconds;
        epoll_wait(epoll_, &event, 1, has_complete() ? 0 : pause);
        serve(most, handler);
    }
}

// Reads the rest of the body. nginx sends the whole body before it reads the reply. If the
// connection were closed earlier, nginx would see a broken pipe and answer 503.
void FcgiServer::drain(Connection& connection) {
    const Watch watch(*this);
    try {
        connection.body.skip(PeerClock(patience_));
    } catch (const Aborted&) {  // the reply is sent all the same
    }
}

std::size_t FcgiServer::serve(std::size_t most, const Handler& handler) {
    std::vector<Request> requests = take(most);
    if (requests.empty()) return 0;
    std::vector<bool> is_answered(requests.size());
    const auto answer = [&](std::size_t index, const std::optional<Reply>& reply) {
        is_answered[index] = true;
        drain(*connections_[index]);
        const Watch watch(*this);
        connections_[index]->answer(requests[index], reply, patience_);
    };
    try {
        for (Deferral& deferral : handler(requests, answer)) {
            Request& deferred = requests[deferral.index];
            is_answered[deferral.index] = true;
            defer(std::move(deferred), std::move(deferral));
        }
    } catch (const std::exception& error) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (!is_answered[i]) connections_[i]->cut(error.what());
        }
    }
    connections_.clear();
    return requests.size();
}

}  // namespace muster::http
