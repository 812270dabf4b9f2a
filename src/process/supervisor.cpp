#include "process/supervisor.hpp"

#include "base/log.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace muster::process {
namespace {

// Returns 0 or an errno.
int send_datagram(std::string_view path, std::string_view text) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() < 2 || path.size() >= sizeof address.sun_path) return EINVAL;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract socket
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return errno;
    const auto sent = sendto(fd, text.data(), text.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length);
    const int error = sent < 0 ? errno : 0;
    close(fd);
    return error;
}

}  // namespace

void notify_supervisor(std::string_view state) {
    const char* path = std::getenv("NOTIFY_SOCKET");
    if (!path || !*path) return;
    if (const int error = send_datagram(path, state); error != 0) {
        log_event(LogLevel::Warning, "supervisor.unreachable",
                  {{"state", state}, {"errno", error}});
    }
}

}  // namespace muster::process
