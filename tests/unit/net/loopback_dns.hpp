// A DNS server on the loopback (RFC 1035 over UDP) for tests of name lookups. It answers A and AAAA
// queries from a script, which may change its answer or not answer.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace muster::test {

class LoopbackDns {
  public:
    // The addresses of a name at the nth query (from 0) of one of its types. Empty: the name does
    // not exist. nullopt: send no answer. Called from the server's thread.
    using Script =
        std::function<std::optional<std::vector<std::string>>(const std::string& name, int nth)>;

    explicit LoopbackDns(Script script);
    ~LoopbackDns();
    LoopbackDns(const LoopbackDns&) = delete;
    LoopbackDns& operator=(const LoopbackDns&) = delete;

    // In the format of the setting: ADDRESS:PORT.
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    // The number of A and AAAA queries for that name.
    int questions(const std::string& name) const;

  private:
    void serve();
    std::string answer(const std::string& question);

    Script script_;
    int socket_ = -1;
    int port_ = 0;
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, int>, int> asked_;
    std::jthread thread_;
};

// A server that knows these names.
LoopbackDns::Script knowing(std::map<std::string, std::vector<std::string>> names);

}  // namespace muster::test
