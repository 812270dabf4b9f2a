// Sends the reply to a FastCGI request.
#pragma once

#include "http/message.hpp"
#include "http/patience.hpp"

#include <cstdint>

namespace muster::http {

// Sends the reply to the request with this id. Throws if the peer does not take it in time, and if
// the reply's stream throws.
void send_reply(int fd, std::uint16_t request_id, const Request& request, const Reply& reply,
                Patience patience);

}  // namespace muster::http
