#include "http/listener.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace muster::http {
namespace {

constexpr int kBacklog = 1024;  // nginx answers 502 at once when the backlog is full
constexpr int kSystemdFirst = 3;
constexpr std::chrono::milliseconds kProbePause{50};

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

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

// Whether a process listens on the socket at `path`.
bool has_listener(const std::string& path) {
    const sockaddr_un address = address_of(path);
    // Non-blocking: a full backlog must not stop the start. It shows that a process listens.
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) fail_to_listen("socket");
    const int error =
        connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
    close(fd);
    if (error == ECONNREFUSED || error == ENOENT) return false;
    if (error == 0 || error == EAGAIN) return true;
    if (error == EACCES) {
        throw std::runtime_error("cannot check whether a process listens at " + path +
                                 ": Permission denied; remove the socket");
    }
    throw std::system_error(error, std::generic_category(), path);
}

// Removes the socket that a killed predecessor left at `path`. The predecessor's workers may listen
// for `patience` longer. Throws if the path is not free afterwards.
void remove_left_socket(const std::string& path, std::chrono::milliseconds patience) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT) return;
        fail_to_listen(path);
    }
    if (!S_ISSOCK(found.st_mode)) {
        throw std::runtime_error("cannot listen at " + path +
                                 ", which is not a socket; name another path in [server]");
    }
    const auto until = std::chrono::steady_clock::now() + patience;
    while (has_listener(path)) {
        if (std::chrono::steady_clock::now() >= until) {
            throw std::runtime_error("another process listens at " + path +
                                     "; stop it, or name another path in [server]");
        }
        std::this_thread::sleep_for(kProbePause);
    }
    if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_to_listen(path);
}

int bind_listener(const std::string& path, unsigned mode, std::chrono::milliseconds patience) {
    const sockaddr_un address = address_of(path);
    remove_left_socket(path, patience);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail_to_listen("socket");
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail_to_listen(path);
    if (chmod(path.c_str(), mode) != 0) fail_to_listen(path);
    if (listen(fd, kBacklog) != 0) fail_to_listen(path);
    return fd;
}

}  // namespace

int open_listener(int place, const std::string& path, unsigned mode,
                  std::chrono::milliseconds patience) {
    const int fd =
        place < activated_sockets() ? kSystemdFirst + place : bind_listener(path, mode, patience);
    // Several workers wait for the same connection. A worker that comes too late must not block in
    // accept.
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) fail_to_listen("fcntl");
    return fd;
}

}  // namespace muster::http
