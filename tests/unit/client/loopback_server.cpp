#include "unit/client/loopback_server.hpp"

#include "base/text.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>

namespace muster::test {
namespace {

// Reads until `text` holds `size` bytes, or a blank line if size is 0. False: the peer has
// disconnected.
bool read_more(int socket, std::string& text) {
    std::string piece(65536, '\0');
    const ssize_t count = recv(socket, piece.data(), piece.size(), 0);
    if (count <= 0) return false;
    text.append(piece, 0, static_cast<std::size_t>(count));
    return true;
}

ServedRequest parse_head(std::string_view head) {
    ServedRequest request;
    bool is_first = true;
    for (std::string_view line : split(head, '\n')) {
        line = trimmed(line);
        if (std::exchange(is_first, false)) {
            const auto words = split(line, ' ');
            request.method = words.at(0);
            request.path = words.at(1);
            continue;
        }
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        std::string name(line.substr(0, colon));
        ascii_lower(name);
        request.headers[name] = trimmed(line.substr(colon + 1));
    }
    return request;
}

std::optional<ServedRequest> read_request(int socket, std::string& buffer) {
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
        if (!read_more(socket, buffer)) return std::nullopt;
    }
    ServedRequest request = parse_head(std::string_view(buffer).substr(0, end));
    buffer.erase(0, end + 4);
    const auto length = request.headers.find("content-length");
    const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (buffer.size() < size) {
        if (!read_more(socket, buffer)) return std::nullopt;
    }
    request.body = buffer.substr(0, size);
    buffer.erase(0, size);
    return request;
}

// False: the peer has disconnected.
bool send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

// False: close the connection.
bool send_response(int socket, const ServedResponse& response) {
    if (response.hang_up) return false;
    if (response.hang) {
        std::string rest;
        while (read_more(socket, rest)) rest.clear();
        return false;
    }
    if (!response.raw.empty()) {
        bool goes_on = send_all(socket, response.raw) && !response.endless.empty();
        while (goes_on) goes_on = send_all(socket, response.endless);
        return false;
    }
    std::string text = "HTTP/1.1 " + std::to_string(response.status) + " Served\r\n";
    for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
    const bool is_cut = response.cut_body_after > 0;
    text += is_cut ? response.body.substr(0, response.cut_body_after) : response.body;
    send_all(socket, text);
    return !is_cut;
}

}  // namespace

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
    acceptor_ = std::jthread([this] { accept_all(); });
}

LoopbackServer::~LoopbackServer() {
    listener_.end();
    acceptor_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    }
    threads_.clear();
    for (const int socket : sockets_) close(socket);
}

void LoopbackServer::accept_all() {
    for (;;) {
        const int socket = listener_.accept();
        if (socket < 0) return;
        ++connections_;
        const std::lock_guard lock(mutex_);
        sockets_.push_back(socket);
        threads_.emplace_back([this, socket] { serve(socket); });
    }
}

void LoopbackServer::serve(int socket) {
    std::string buffer;
    while (const auto request = read_request(socket, buffer)) {
        if (!send_response(socket, handler_(*request))) break;
    }
    shutdown(socket,
             SHUT_RDWR);  // closed together with the server, so that the descriptor is not reused
                          // earlier
}

}  // namespace muster::test
