// FastCGI in and out: the only file pair that knows libfcgi. From a listening Unix socket that
// several workers share: one request at a time, or all that wait.
#pragma once

#include "http/message.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace muster::http {

// The listening socket of that place among ours: the one that systemd handed over (LISTEN_FDS, in
// the order of its socket unit), else a new one at `path` with permissions `mode`. Non-blocking.
// Throws std::system_error.
int open_listener(int place, const std::string& path, unsigned mode);

// Answers requests, in their order; nullopt for one whose client has gone. An exception, from it or
// from a reply's stream, cuts the connection.
using Handler = std::function<std::vector<std::optional<Reply>>(std::span<const Request>)>;

class FcgiServer {
  public:
    explicit FcgiServer(int listener);
    ~FcgiServer();
    FcgiServer(const FcgiServer&) = delete;
    FcgiServer& operator=(const FcgiServer&) = delete;

    // Waits for a request, with the signals of `unblocked` let in only while it waits; takes it and
    // whatever waits behind it, at most `most`, and answers them with `handler`. How many they
    // were.
    int serve(const sigset_t& unblocked, int most, const Handler& handler);

  private:
    struct Connection;
    Connection& connection(std::size_t place);
    std::vector<Request> take(std::size_t most);

    std::vector<std::unique_ptr<Connection>> connections_;
    int listener_;
    int waiting_;  // an epoll of this worker's own
};

}  // namespace muster::http
