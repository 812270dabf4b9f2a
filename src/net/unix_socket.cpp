#include "net/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace muster::net {

namespace {

SocketReport failed(int error) {
    Listening listening = Listening::No;
    if (error == ENOENT) listening = Listening::Absent;
    if (error == EACCES || error == EPERM) listening = Listening::Unknown;
    return {listening, std::generic_category().message(error)};
}

}  // namespace

SocketReport probe_socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return failed(ENAMETOOLONG);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    // Non-blocking: if the queue of a hanging server is full, connect() would never return.
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return failed(errno);
    const int error =
        connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
    close(fd);
    if (error != 0) return failed(error);
    return {Listening::Yes, ""};
}

}  // namespace muster::net
