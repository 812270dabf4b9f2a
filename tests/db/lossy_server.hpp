// A server whose acknowledgement gets lost, or that goes away: a Unix socket in front of the real
// one.
#pragma once

#include "db/fixture.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace muster::test {

// Forwards all data between clients and the real server. When a client sends `marker` for the first
// time, the server runs that statement, but its reply is dropped and the connection is closed.
class LossyServer {
  public:
    // Without a marker, it loses nothing before lose().
    explicit LossyServer(std::string marker = "");
    ~LossyServer();
    LossyServer(const LossyServer&) = delete;
    LossyServer& operator=(const LossyServer&) = delete;

    std::string url() const { return "unix:" + path_; }
    bool has_lost() const { return has_lost_; }
    // Sets the marker, if it has none yet.
    void lose(const std::string& marker);
    // Closes the connection, and each new one, until come_back().
    void go_away() { is_away_ = true; }
    void come_back() { is_away_ = false; }
    // The number of connections that were closed at once.
    int refused() const { return refused_; }

  private:
    void serve();
    void pass_on(int client, int server);

    std::string marker_;
    std::atomic<bool> has_marker_;
    std::string path_;
    int listening_;
    std::atomic<bool> has_lost_{false};
    std::atomic<bool> is_away_{false};
    std::atomic<int> refused_{0};
    std::jthread thread_;
};

}  // namespace muster::test
