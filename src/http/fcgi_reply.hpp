// Sends the reply to a FastCGI request.
#pragma once

#include "http/message.hpp"

#include <chrono>
#include <cstdint>

namespace muster::http {

// How long a worker waits for its peers.
struct Patience {
    // For a byte of a body, or for room in the buffer of a socket.
    std::chrono::milliseconds pause;
    // For all of that, in one batch.
    std::chrono::milliseconds total;
};

// Sends the reply to the request with this id. Throws if the peer does not take it in time, and if
// the reply's stream throws.
void send_reply(int fd, std::uint16_t request_id, const Request& request, const Reply& reply,
                Patience patience);

}  // namespace muster::http
