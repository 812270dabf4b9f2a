// A name server on the loopback (RFC 1035 over UDP) for tests of what looks names up: answers A and
// AAAA from a script, which may change its mind from one question to the next, or say nothing.
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
    // The addresses of a name at the nth time (from 0) that one of its types is asked for; none:
    // there is no such name. nullopt: no answer comes. Called from the server's thread.
    using Script =
        std::function<std::optional<std::vector<std::string>>(const std::string& name, int nth)>;

    explicit LoopbackDns(Script script);
    ~LoopbackDns();
    LoopbackDns(const LoopbackDns&) = delete;
    LoopbackDns& operator=(const LoopbackDns&) = delete;

    // As a setting names it: ADDRESS:PORT.
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    // How often addresses of that name were asked for, A and AAAA together.
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
