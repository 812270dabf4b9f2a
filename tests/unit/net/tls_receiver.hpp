// Runs tests/unit/net/tls_receiver: an HTTPS receiver with its own certificate.
#pragma once

#include "unit/client/scratch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>

namespace muster::test {

class TlsReceiver {
  public:
    explicit TlsReceiver(const std::string& name) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        if (pipe(in.data()) != 0 || pipe(out.data()) != 0) throw std::runtime_error("no pipe");
        const std::string folder = folder_.file("");
        process_ = fork();
        if (process_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
            execl("tests/unit/net/tls_receiver", "tls_receiver", folder.c_str(), name.c_str(),
                  nullptr);
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        std::string line;
        char byte = 0;
        while (read(out[0], &byte, 1) == 1 && byte != '\n') line += byte;
        close(out[0]);
        if (line.empty()) throw std::runtime_error("tests/unit/net/tls_receiver does not start");
        port_ = std::stoi(line);
    }
    ~TlsReceiver() {
        close(input_);
        waitpid(process_, nullptr, 0);
    }
    TlsReceiver(const TlsReceiver&) = delete;
    TlsReceiver& operator=(const TlsReceiver&) = delete;

    int port() const { return port_; }
    std::string ca_file() const { return folder_.file("cert.pem"); }

  private:
    Scratch folder_;
    pid_t process_ = -1;
    int input_ = -1;
    int port_ = 0;
};

}  // namespace muster::test
