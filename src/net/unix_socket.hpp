// Checks whether a process listens on a Unix socket of this host (musterctl health).
#pragma once

#include <cstdint>
#include <string>

namespace muster::net {

enum class Listening : std::uint8_t {
    Yes,
    No,
    Absent,   // the socket does not exist
    Unknown,  // this user may not connect
};
struct SocketReport {
    Listening listening = Listening::No;
    std::string reason;  // the system's message, unless Yes
};
// Connects and disconnects without sending anything.
[[nodiscard]] SocketReport probe_socket(const std::string& path);

}  // namespace muster::net
