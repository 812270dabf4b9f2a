// Asynchronous DNS look-ups over c-ares, many at once and without a thread. The system's hosts file
// has precedence over the name servers. Search domains are not used, so that a name has the same
// meaning on every host.
#pragma once

#include "base/time.hpp"
#include "net/address_guard.hpp"

#include <poll.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace muster::net {

class Resolver {
  public:
    // All IPv4 and IPv6 addresses of the name, in no particular order. Empty if the name does not
    // exist, or if no reply arrived in time.
    using Done = std::function<void(const std::vector<IpAddress>& addresses)>;

    // `servers`: ADDRESS[:PORT],…; "" = the system's. Throws std::runtime_error for an invalid
    // list.
    explicit Resolver(const std::string& servers);
    ~Resolver();  // cancels pending look-ups without calling `done`
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Never waits. proceed() calls `done` once, at most `at_most` later.
    void look_up(const std::string& name, Milliseconds at_most, Done done);
    // Handles all pending look-ups. `done` may start further look-ups. An exception from `done` is
    // passed on; the next call handles the other look-ups.
    void proceed();
    // Call proceed() when one of these sockets is ready, or after pause().
    [[nodiscard]] std::vector<pollfd> sockets() const;
    // The time until proceed() must be called, at most `at_most`.
    [[nodiscard]] Milliseconds pause(Milliseconds at_most) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Looks one name up and waits for the result. Returns what Done receives.
[[nodiscard]] std::vector<IpAddress> resolve(const std::string& name, const std::string& servers,
                                             Milliseconds at_most);

}  // namespace muster::net
