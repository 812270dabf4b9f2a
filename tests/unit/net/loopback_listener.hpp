// A listening TCP socket on a free port of the loopback, for tests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace muster::test {

class LoopbackListener {
  public:
    explicit LoopbackListener(int backlog) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* any = reinterpret_cast<sockaddr*>(&address_);
        socklen_t length = sizeof address_;
        if (bind(fd_, any, length) != 0 || listen(fd_, backlog) != 0 ||
            getsockname(fd_, any, &length) != 0) {
            throw std::runtime_error("no socket on the loopback");
        }
    }
    ~LoopbackListener() { close(fd_); }
    LoopbackListener(const LoopbackListener&) = delete;
    LoopbackListener& operator=(const LoopbackListener&) = delete;

    // "127.0.0.1:PORT"
    std::string authority() const {
        return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port));
    }
    const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
    // The next connection; negative after end().
    int accept() const { return accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }
    // Ends accept() in another thread.
    void end() const { shutdown(fd_, SHUT_RDWR); }

  private:
    int fd_;
    sockaddr_in address_{};
};

}  // namespace muster::test
