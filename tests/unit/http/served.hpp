// A FastCGI server on a socket of its own, and peers that connect to it, for tests.
#pragma once

#include "http/fcgi_io.hpp"
#include "http/listener.hpp"

#include "print.hpp"
#include "unit/http/fcgi_bytes.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::test {

using http::Answer;
using http::Deferral;
using http::FcgiServer;
using http::Handler;
using http::Reply;
using http::Request;

// The head of a GET without a body.
inline std::string head() {
    const std::string method = std::string{14, 3} + "REQUEST_METHODGET";
    return fcgi_begin() + fcgi_record(4, method) + fcgi_record(4, "") + fcgi_record(5, "");
}

class Peer {
  public:
    explicit Peer(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        BOOST_TEST_REQUIRE(
            connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    }
    ~Peer() { close(fd_); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    void send(const std::string& bytes) const {
        BOOST_TEST_REQUIRE(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                           static_cast<ssize_t>(bytes.size()));
    }
    void end_sending() const { shutdown(fd_, SHUT_WR); }
    // False if the server has closed.
    bool offer(const std::string& bytes) const {
        return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0;
    }
    // Adds to `taken` what it reads, at most `most`. False if the server has closed.
    bool take(std::size_t most, std::size_t& taken) const {
        std::string bytes(most, '\0');
        const ssize_t got = recv(fd_, bytes.data(), most, MSG_DONTWAIT);
        if (got > 0) taken += static_cast<std::size_t>(got);
        return got != 0;
    }
    // Until the server closes.
    std::string received() const {
        std::string bytes;
        std::array<char, 4096> piece{};
        for (ssize_t got = 1; got > 0;) {
            got = recv(fd_, piece.data(), piece.size(), 0);
            if (got > 0) bytes.append(piece.data(), static_cast<std::size_t>(got));
        }
        return bytes;
    }

  private:
    int fd_;
};

struct Served {
    Served() : server(listener) {}
    ~Served() {
        close(listener);
        std::filesystem::remove(path);
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;

    const std::string path = "/tmp/muster-unit-" + std::to_string(getpid()) + ".socket";
    const int listener = http::open_listener(0, path, 0600);
    const Handler answer_all = [](std::span<const Request> requests, const Answer& answer) {
        for (std::size_t i = 0; i < requests.size(); ++i) answer(i, Reply{});
        return std::vector<Deferral>{};
    };
    FcgiServer server;
};

}  // namespace muster::test
