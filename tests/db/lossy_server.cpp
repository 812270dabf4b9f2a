#include "db/lossy_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace muster::test {
namespace {

int unix_socket() {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw std::runtime_error("no socket");
    return made;
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

template <class Call>
void on_address(Call call, int socket, const std::string& path) {
    const sockaddr_un address = address_of(path);
    if (call(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw std::runtime_error("cannot use the socket " + path);
    }
}

bool is_readable(int socket, int milliseconds) {
    pollfd asked{socket, POLLIN, 0};
    return poll(&asked, 1, milliseconds) > 0;
}

// "" at the end.
std::string received(int socket) {
    std::array<char, 65'536> buffer{};
    const ssize_t count = recv(socket, buffer.data(), buffer.size(), 0);
    return {buffer.data(), static_cast<std::size_t>(count > 0 ? count : 0)};
}

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

LossyServer::LossyServer(std::string marker)
    : marker_(std::move(marker)),
      has_marker_(!marker_.empty()),
      path_("/tmp/muster_lossy_" + std::to_string(getpid()) + ".sock"),
      listening_(unix_socket()) {
    unlink(path_.c_str());
    on_address(::bind, listening_, path_);
    if (listen(listening_, 8) != 0) throw std::runtime_error("cannot listen");
    thread_ = std::jthread([this] { serve(); });
}

LossyServer::~LossyServer() {
    shutdown(listening_, SHUT_RDWR);
    thread_.join();
    close(listening_);
    unlink(path_.c_str());
}

void LossyServer::lose(const std::string& marker) {
    if (has_marker_) throw std::logic_error("the server has a marker already");
    marker_ = marker;
    has_marker_ = true;
}

// One connection at a time: a test has one database connection.
void LossyServer::serve() {
    for (;;) {
        const int client = accept(listening_, nullptr, nullptr);
        if (client < 0) return;
        if (is_away_) {
            ++refused_;
            close(client);
            continue;
        }
        const int server = unix_socket();
        on_address(::connect, server, settings().database.url.substr(std::string("unix:").size()));
        pass_on(client, server);
        close(server);
        close(client);
    }
}

void LossyServer::pass_on(int client, int server) {
    constexpr int kPoll = 5;
    while (!is_away_) {
        if (is_readable(client, kPoll)) {
            const std::string sent = received(client);
            if (is_away_ || sent.empty() || !send_all(server, sent)) return;
            if (has_marker_ && !has_lost_ && sent.find(marker_) != std::string::npos) {
                received(server);  // the server has executed it
                has_lost_ = true;
                return;
            }
        }
        if (is_readable(server, 0)) {
            const std::string answer = received(server);
            if (answer.empty() || !send_all(client, answer)) return;
        }
    }
}

}  // namespace muster::test
