// Captures the log of a call, for unit and database tests.
#pragma once

#include "unit/client/scratch.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace muster::test {

// During its lifetime, standard error is this file. Closes the file.
class StderrTo {
  public:
    explicit StderrTo(int file) : kept_(dup(STDERR_FILENO)) {
        dup2(file, STDERR_FILENO);
        close(file);
    }
    ~StderrTo() {
        dup2(kept_, STDERR_FILENO);
        close(kept_);
    }
    StderrTo(const StderrTo&) = delete;
    StderrTo& operator=(const StderrTo&) = delete;

  private:
    int kept_;
};

// The text that `work` writes to standard error.
inline std::string logged(const std::function<void()>& work) {
    const Scratch scratch;
    {
        const StderrTo file(open(scratch.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
        work();
    }
    return scratch.read("log");
}

// The writes to standard error during `work`.
inline std::vector<std::string> writes(const std::function<void()>& work) {
    std::array<int, 2> ends{};  // each write is a datagram
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()) != 0)
        throw std::runtime_error("socketpair");
    {
        const StderrTo end(ends[1]);
        work();
    }
    std::vector<std::string> seen;
    std::string piece(std::size_t{64} << 10U, '\0');
    for (;;) {
        const ssize_t got = recv(ends[0], piece.data(), piece.size(), MSG_DONTWAIT);
        if (got < 0) break;
        seen.push_back(piece.substr(0, static_cast<std::size_t>(got)));
    }
    close(ends[0]);
    return seen;
}

}  // namespace muster::test
