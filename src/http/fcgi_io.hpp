// FastCGI in and out: the only file pair that knows libfcgi. One request at a time, from a
// listening Unix socket that several workers share.
#pragma once

#include "http/message.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <string>

namespace muster::http {

// The listening socket: the one that systemd handed over (LISTEN_FDS), else a new one at `path`
// with permissions `mode`. Non-blocking. Throws std::system_error.
int open_listener(const std::string& path, unsigned mode);

// Answers one request. An exception, from it or from a reply's stream, cuts the connection.
using Handler = std::function<Reply(const Request&)>;

class FcgiServer {
  public:
    explicit FcgiServer(int listener);
    ~FcgiServer();
    FcgiServer(const FcgiServer&) = delete;
    FcgiServer& operator=(const FcgiServer&) = delete;

    // Waits for a request, with the signals of `unblocked` let in only while it waits; answers it
    // with `handler`. False when a signal came instead.
    bool serve_one(const sigset_t& unblocked, const Handler& handler);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    int listener_;
    int waiting_;  // an epoll of this worker's own
};

}  // namespace muster::http
