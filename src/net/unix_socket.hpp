// Whether somebody listens at a Unix socket of this host (musterctl health).
#pragma once

#include <cstdint>
#include <string>

namespace muster::net {

enum class Listening : std::uint8_t {
    Yes,
    No,
    Absent,   // there is no such socket
    Unknown,  // this user may not ask
};
struct SocketReport {
    Listening listening = Listening::No;
    std::string reason;  // the system's, unless Yes
};
// Connects and hangs up. Nothing is sent.
[[nodiscard]] SocketReport ask_socket(const std::string& path);

}  // namespace muster::net
