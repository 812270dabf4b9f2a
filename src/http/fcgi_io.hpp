// FastCGI input and output; only this file pair uses libfcgi. Workers share a listening Unix
// socket. A worker takes one request at a time, or all that wait.
#pragma once

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

// Returns the listening socket number `place`: the one that systemd passed (LISTEN_FDS, in the
// order of the socket unit), otherwise a new one at `path` with permissions `mode`. Non-blocking.
// Throws std::system_error.
int open_listener(int place, const std::string& path, unsigned mode);

// Sends the reply to the request with this index; nullopt if the client has disconnected. Called
// once per request, in any order. A stream that throws breaks the connection.
using Answer = std::function<void(std::size_t index, std::optional<Reply> reply)>;
// Answers all requests. If it throws, the connections of unanswered requests are broken.
using Handler = std::function<void(std::span<const Request>, const Answer&)>;

class FcgiServer {
  public:
    explicit FcgiServer(int listener);
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
    // True if the server has accepted connections whose requests are not complete. No other worker
    // can answer these.
    bool has_pending() const { return !pending_.empty(); }
    // Accepts no more connections, and answers for up to a second what was accepted before.
    void finish(std::size_t most, const Handler& handler);

  private:
    using Clock = std::chrono::steady_clock;
    struct Connection;
    // An accepted connection whose request is not complete.
    struct Pending {
        int fd;
        Clock::time_point until;
        bool is_complete = false;  // it waits for the next call of take()
    };
    Connection& connection(std::size_t place);
    std::vector<Request> take(std::size_t most);
    void take_pending(std::vector<Request>& requests, std::size_t most);
    void begin(int fd, std::vector<Request>& requests);
    void keep_pending(int fd);

    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<Pending> pending_;  // the oldest first
    bool is_closing_ = false;
    int listener_;
    int epoll_;  // this worker's epoll
};

}  // namespace muster::http
