// A small HTTP/1.1 server on the loopback for tests of what speaks HTTP: real sockets, keep-alive,
// one thread a connection, and a handler that may also break the connection off.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace muster::test {

struct ServedRequest {
    std::string method;
    std::string path;                            // with the query
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

struct ServedResponse {
    int status = 200;
    std::string body = "{}";
    std::vector<std::pair<std::string, std::string>> headers;
    bool hang_up = false;            // answer nothing and close
    std::size_t cut_body_after = 0;  // send so many bytes of the body and close; 0 = all
    bool hang = false;               // answer nothing, and wait until the peer is gone
    std::string raw{};               // sent as it stands, instead of an answer; then close
    std::string endless{};           // behind raw, over and over, until the peer is gone
};

class LoopbackServer {
  public:
    using Handler = std::function<ServedResponse(const ServedRequest&)>;

    // The handler is called from several threads.
    explicit LoopbackServer(Handler handler);
    ~LoopbackServer();
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    int connections() const { return connections_; }

  private:
    void accept_all();
    void serve(int socket);

    Handler handler_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<int> connections_{0};
    std::mutex mutex_;
    std::vector<int> sockets_;
    std::vector<std::jthread> threads_;
    std::jthread acceptor_;
};

}  // namespace muster::test
