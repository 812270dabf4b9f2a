// What musterd tells the service manager that started it: the protocol of sd_notify(3), one
// datagram to $NOTIFY_SOCKET, for which no library is needed.
#pragma once

#include <string_view>

namespace muster::process {

// Sends a state, such as "READY=1". Does nothing without $NOTIFY_SOCKET. A manager that cannot be
// reached is logged and no error: whoever wants answers gets them all the same.
void tell_supervisor(std::string_view state);

}  // namespace muster::process
