// A server whose acknowledgement gets lost: a Unix socket in front of the real one.
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
    explicit LossyServer(std::string marker);
    ~LossyServer();
    LossyServer(const LossyServer&) = delete;
    LossyServer& operator=(const LossyServer&) = delete;

    std::string url() const { return "unix:" + path_; }
    bool has_lost() const { return has_lost_; }

  private:
    void serve();
    void pass_on(int client, int server);

    std::string marker_;
    std::string path_;
    int listening_;
    std::atomic<bool> has_lost_{false};
    std::jthread thread_;
};

}  // namespace muster::test
