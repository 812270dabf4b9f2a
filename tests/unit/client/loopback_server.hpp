// A small HTTP/1.1 server on the loopback for tests of HTTP clients: real sockets, keep-alive, one
// thread per connection, and a handler that can also abort the connection.
#pragma once

#include "unit/net/loopback_listener.hpp"

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
    std::string path;                            // including the query
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

struct ServedResponse {
    int status = 200;
    std::string body = "{}";
    std::vector<std::pair<std::string, std::string>> headers;
    bool hang_up = false;            // send nothing and close
    std::size_t cut_body_after = 0;  // send this many bytes of the body and close; 0 = all
    bool hang = false;               // send nothing, and wait until the peer disconnects
    std::string raw{};               // sent verbatim instead of a reply; then close
    std::string endless{};           // repeated after raw until the peer disconnects
};

class LoopbackServer {
  public:
    using Handler = std::function<ServedResponse(const ServedRequest&)>;

    // Several threads call the handler.
    explicit LoopbackServer(Handler handler);
    ~LoopbackServer();
    LoopbackServer(const LoopbackServer&) = delete;
    LoopbackServer& operator=(const LoopbackServer&) = delete;

    std::string url() const { return "http://" + listener_.authority(); }
    int connections() const { return connections_; }

  private:
    void accept_all();
    void serve(int socket);

    Handler handler_;
    LoopbackListener listener_{1024};
    std::atomic<int> connections_{0};
    std::mutex mutex_;
    std::vector<int> sockets_;
    std::vector<std::jthread> threads_;
    std::jthread acceptor_;
};

}  // namespace muster::test
