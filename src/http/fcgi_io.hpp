// A FastCGI server. Workers share a listening Unix socket. A worker takes one request at a time, or
// all that wait. A request that must wait for its organization's share, for locked rows or for its
// turn stays in its worker, which takes others meanwhile.
#pragma once

#include "http/fcgi_records.hpp"
#include "http/fcgi_reply.hpp"
#include "http/message.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::http {

// Sends the reply to the request with this index; nullopt if the client has disconnected. Called
// once per request, in any order. A stream that throws breaks the connection.
using Answer = std::function<void(std::size_t index, std::optional<Reply> reply)>;
// Answers all requests except those that it returns. The server passes these again later, unless
// they have no effect and their peers have gone. If it throws, the connections of unanswered
// requests are broken.
using Handler = std::function<std::vector<Deferral>(std::span<const Request>, const Answer&)>;
// Whether a request that waits for this share may be passed to the handler again.
using HasRoom = std::function<bool(const std::string& share)>;

class FcgiServer {
  public:
    // A deferred request waits this long, or until its turn. Then it is passed to the handler for
    // the last time.
    static constexpr std::chrono::seconds kLongestWait{5};
    // While this many requests are deferred, no other one may be (Request::may_wait).
    static constexpr std::size_t kMostDeferred = 320;
    // A peer is closed if it sends no byte of its body, or makes no room for its reply, for 10
    // seconds. A worker waits for the peers of a batch for 30 seconds in all, and then for 50 ms
    // for each of the others.
    static constexpr Patience kPatience{std::chrono::seconds(10), std::chrono::seconds(30)};

    explicit FcgiServer(int listener, HasRoom has_room = {}, Patience patience = kPatience);
    ~FcgiServer();
    FcgiServer(const FcgiServer&) = delete;
    FcgiServer& operator=(const FcgiServer&) = delete;

    // Waits for a request; the signals of `unblocked` are delivered only during the wait. Returns
    // false after a signal.
    bool wait(const sigset_t& unblocked) const;
    // Takes all waiting requests, at most `most`, and answers them with `handler`. Returns their
    // number: 0 if another worker was faster, or if no request was complete. A connection whose
    // request does not arrive in time, or is not one, is closed.
    std::size_t serve(std::size_t most, const Handler& handler);
    // True if the server has accepted connections whose requests are not complete, or has deferred
    // requests that are due. No other worker can answer these.
    bool has_pending() const;
    // Accepts no more connections, and answers what was accepted before. A request that is not
    // complete may take another second, and a deferred one may wait for `longest_wait`. Takes at
    // most 15 seconds and the time of one more batch.
    void finish(std::size_t most, const Handler& handler,
                std::chrono::milliseconds longest_wait = kLongestWait);

  private:
    using Clock = std::chrono::steady_clock;
    struct Connection;
    struct Watch;
    // An accepted connection whose request is not complete.
    struct Pending {
        int fd;
        Clock::time_point until;
        std::string bytes = {};    // that have arrived
        bool is_complete = false;  // it waits for the next call of take()
    };
    // A request that was deferred.
    struct Deferred {
        std::unique_ptr<Connection> connection;
        Request request;
    };
    bool has_complete() const;
    bool is_due(const Deferred& deferred) const;
    std::vector<bool> abandoned() const;
    void take_deferred(std::vector<Request>& requests, std::size_t most);
    void defer(Request request, Deferral deferral);
    std::vector<Deferred>::const_iterator place_of(const Deferral& deferral) const;
    std::vector<Request> take(std::size_t most);
    void take_pending(std::vector<Request>& requests, std::size_t most);
    static RequestHead look_at_head(Pending& pending);
    static RequestHead await_head(Pending& accepted);
    void begin(const Pending& pending, const RequestHead& head, std::vector<Request>& requests);
    void keep_pending(Pending pending);
    void hurry();
    void drain(Connection& connection);

    std::vector<std::unique_ptr<Connection>> connections_;  // of the current batch
    std::vector<Pending> pending_;                          // the oldest first
    std::vector<Deferred> deferred_;                        // of each share, the oldest first
    HasRoom has_room_;
    bool is_closing_ = false;
    bool has_hurried_ = false;  // since the last call of take()
    int listener_;
    Patience usual_patience_;
    Patience patience_{usual_patience_};  // what is left for the peers of the current batch
    int epoll_;                           // this worker's epoll
};

}  // namespace muster::http
