// The listening Unix sockets of musterd, which its workers share.
#pragma once

#include <string>

namespace muster::http {

// Returns the listening socket number `place`: the one that systemd passed (LISTEN_FDS, in the
// order of the socket unit), otherwise a new one at `path` with permissions `mode`. Non-blocking.
// Throws std::system_error.
int open_listener(int place, const std::string& path, unsigned mode);

}  // namespace muster::http
