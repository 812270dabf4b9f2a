// Reports the state of musterd to the service manager: one datagram to $NOTIFY_SOCKET, as in
// sd_notify(3). It needs no library.
#pragma once

#include <string_view>

namespace muster::process {

// Sends a state such as "READY=1". Does nothing if $NOTIFY_SOCKET is not set. An unreachable
// service manager is logged and otherwise ignored: requests are answered anyway.
void notify_supervisor(std::string_view state);

}  // namespace muster::process
