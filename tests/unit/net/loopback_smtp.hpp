// A small mail server on the loopback for unit and database tests that send mail: real sockets, one
// thread per connection, and a script that decides each reply.
#pragma once

#include "unit/net/loopback_listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace muster::test {

struct ReceivedMail {
    std::string from;  // the argument of MAIL
    std::string to;    // the argument of RCPT
    std::string data;  // without the final dot, dot-unstuffed
};

class LoopbackSmtp {
  public:
    // The reply to a step: a complete reply line ("250 ok"), or one of these.
    static constexpr std::string_view kHang = "hang";  // send nothing, and wait
    static constexpr std::string_view kCut = "cut";    // close
    // "" = the normal reply. Steps: connect, EHLO, HELO, STARTTLS, AUTH, MAIL, RCPT, DATA, "." (the
    // whole mail), QUIT. Called from several threads.
    using Script = std::function<std::string(std::string_view step)>;

    explicit LoopbackSmtp(Script script = [](std::string_view) { return ""; })
        : script_(std::move(script)) {
        acceptor_ = std::jthread([this] { accept_all(); });
    }
    ~LoopbackSmtp() {
        listener_.end();
        acceptor_.join();
        {
            const std::lock_guard lock(mutex_);
            for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
        }
        threads_.clear();
        for (const int socket : sockets_) close(socket);
    }
    LoopbackSmtp(const LoopbackSmtp&) = delete;
    LoopbackSmtp& operator=(const LoopbackSmtp&) = delete;

    std::string url() const { return "smtp://" + listener_.authority(); }
    // Mails that were accepted with 250, and mails whose reply the script replaced.
    std::vector<ReceivedMail> mails() const {
        const std::lock_guard lock(mutex_);
        return mails_;
    }
    // Every command line of all connections.
    std::vector<std::string> commands() const {
        const std::lock_guard lock(mutex_);
        return commands_;
    }

  private:
    struct Talk {
        int socket;
        std::string buffer;
        ReceivedMail mail;
    };

    static bool read_line(Talk& talk, std::string& line) {
        std::size_t end = 0;
        while ((end = talk.buffer.find("\r\n")) == std::string::npos) {
            std::string piece(65536, '\0');
            const ssize_t count = recv(talk.socket, piece.data(), piece.size(), 0);
            if (count <= 0) return false;
            talk.buffer.append(piece, 0, static_cast<std::size_t>(count));
        }
        line = talk.buffer.substr(0, end);
        talk.buffer.erase(0, end + 2);
        return true;
    }

    // False: close the connection.
    bool answer(const Talk& talk, std::string_view step, std::string_view good) {
        std::string reply = script_(step);
        if (reply == kCut) return false;
        if (reply == kHang) {
            char byte = 0;
            while (recv(talk.socket, &byte, 1, 0) > 0) continue;
            return false;
        }
        if (reply.empty()) reply = good;
        reply += "\r\n";
        send(talk.socket, reply.data(), reply.size(), MSG_NOSIGNAL);
        return true;
    }

    bool take_mail(Talk& talk) {
        talk.mail.data.clear();
        std::string line;
        while (read_line(talk, line)) {
            if (line == ".") {
                const std::string reply = script_(".");
                const bool is_refusal = !reply.empty() && (reply[0] == '4' || reply[0] == '5');
                const std::lock_guard lock(mutex_);
                if (!is_refusal) mails_.push_back(talk.mail);
                return true;
            }
            talk.mail.data.append(line, line.starts_with('.') ? 1 : 0).append("\r\n");
        }
        return false;
    }

    bool obey(Talk& talk, const std::string& line) {
        {
            const std::lock_guard lock(mutex_);
            commands_.push_back(line);
        }
        const std::string verb = line.substr(0, line.find(' '));
        if (verb == "EHLO") return answer(talk, verb, "250-loopback\r\n250-SMTPUTF8\r\n250 SIZE");
        if (verb == "MAIL") talk.mail.from = line.substr(line.find(':') + 1);
        if (verb == "RCPT") talk.mail.to = line.substr(line.find(':') + 1);
        if (verb == "QUIT") return answer(talk, verb, "221 bye") && false;
        if (verb != "DATA") return answer(talk, verb, "250 ok");
        const bool is_refused = !script_("DATA").empty();
        return answer(talk, "DATA", "354 go on") &&
               (is_refused || (take_mail(talk) && answer(talk, ".", "250 taken")));
    }

    void serve(int socket) {
        Talk talk{socket, "", {}};
        std::string line;
        bool goes_on = answer(talk, "connect", "220 loopback");
        while (goes_on && read_line(talk, line)) goes_on = obey(talk, line);
        shutdown(socket,
                 SHUT_RDWR);  // closed together with the server, so that the number stays reserved
    }

    void accept_all() {
        for (;;) {
            const int socket = listener_.accept();
            if (socket < 0) return;
            const std::lock_guard lock(mutex_);
            sockets_.push_back(socket);
            threads_.emplace_back([this, socket] { serve(socket); });
        }
    }

    Script script_;
    LoopbackListener listener_{16};
    mutable std::mutex mutex_;
    std::vector<ReceivedMail> mails_;
    std::vector<std::string> commands_;
    std::vector<int> sockets_;
    std::vector<std::jthread> threads_;
    std::jthread acceptor_;
};

}  // namespace muster::test
