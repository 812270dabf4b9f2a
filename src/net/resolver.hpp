// Looks names up over c-ares, many at once and without a thread: the only door to c-ares. The
// system's hosts file counts before the name servers; search domains do not, so that a name means
// the same everywhere.
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
    // All addresses of the name, IPv4 and IPv6, without an order of preference; none where there
    // is no such name, no answer, or none in time.
    using Done = std::function<void(const std::vector<IpAddress>& addresses)>;

    // `servers`: ADDRESS[:PORT],…; "" = the system's. Throws std::runtime_error where it is
    // neither.
    explicit Resolver(const std::string& servers);
    ~Resolver();  // forgets what is under way; `done` is not called
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Never waits: proceed() calls `done`, once, `at_most` from now.
    void look_up(const std::string& name, Milliseconds at_most, Done done);
    // Moves all look-ups on. `done` may look up more, and what it throws comes out of here.
    void proceed();
    // Proceeding is of use when one of these is ready, or after pause().
    [[nodiscard]] std::vector<pollfd> sockets() const;
    // `at_most` at the longest.
    [[nodiscard]] Milliseconds pause(Milliseconds at_most) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// One look-up, awaited: what Done gets.
[[nodiscard]] std::vector<IpAddress> resolve(const std::string& name, const std::string& servers,
                                             Milliseconds at_most);

}  // namespace muster::net
