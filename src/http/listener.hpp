// The listening Unix sockets of musterd, which its workers share.
#pragma once

#include <chrono>
#include <string>

namespace muster::http {

// Returns the listening socket number `place`: the one that systemd passed (LISTEN_FDS, in the
// order of the socket unit), otherwise a new one at `path` with permissions `mode`. Non-blocking.
// Replaces a socket without a listener. Throws std::system_error, and std::runtime_error if the
// path is not a socket, or if a process still listens there after `patience`.
int open_listener(int place, const std::string& path, unsigned mode,
                  std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace muster::http
