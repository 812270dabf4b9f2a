#include "http/listener.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace muster::http {
namespace {

constexpr int kBacklog = 1024;  // nginx answers 502 at once when the backlog is full
constexpr int kSystemdFirst = 3;

[[noreturn]] void fail_to_listen(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// The number of sockets that systemd passed.
int activated_sockets() {
    const char* pid = std::getenv("LISTEN_PID");
    const char* count = std::getenv("LISTEN_FDS");
    const bool is_ours = pid && count && parse_number<int>(pid) == getpid();
    return is_ours ? parse_number<int>(count).value_or(0) : 0;
}

int bind_listener(const std::string& path, unsigned mode) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail_to_listen("socket");
    unlink(path.c_str());  // a killed predecessor may have left it
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail_to_listen(path);
    if (chmod(path.c_str(), mode) != 0) fail_to_listen(path);
    if (listen(fd, kBacklog) != 0) fail_to_listen(path);
    return fd;
}

}  // namespace

int open_listener(int place, const std::string& path, unsigned mode) {
    const int fd = place < activated_sockets() ? kSystemdFirst + place : bind_listener(path, mode);
    // Several workers wait for the same connection. A worker that comes too late must not block in
    // accept.
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) fail_to_listen("fcntl");
    return fd;
}

}  // namespace muster::http
