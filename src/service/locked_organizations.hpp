// Organizations whose rows caused a lock timeout in this worker. Their calls are not tried for a
// while, so that they do not delay the calls of other organizations again and again.
#pragma once

#include "base/ids.hpp"

#include <chrono>
#include <cstddef>
#include <unordered_map>

namespace muster::service {

class LockedOrganizations {
  public:
    using Clock = std::chrono::steady_clock;

    // Open: no lock timeout is remembered. Closed: leave the call. Probe: the time is over; try
    // one call, and report how it ended.
    enum class Access : std::uint8_t { Open, Probe, Closed };
    Access access(OrgId organization, Clock::time_point now) const;
    // When to try a call again that was left: at the next probe, or in 10 ms if the organization is
    // open.
    Clock::time_point next_attempt(OrgId organization, Clock::time_point now) const;

    // Closes the organization for 10 ms, and for twice the time after each further timeout, up to
    // half a second. `waited`: how long the call waited for the lock. The organization is closed
    // for at least this time, and then up to 8 seconds.
    void timed_out(OrgId organization, Clock::time_point now,
                   std::chrono::milliseconds waited = {});
    void succeeded(OrgId organization) { closed_.erase(organization); }

    // If the table is full, the entry that ends first is dropped.
    static constexpr std::size_t kMost = 1024;

  private:
    struct Closed {
        Clock::time_point until;
        std::chrono::milliseconds duration;
    };
    std::unordered_map<OrgId, Closed> closed_;
};

}  // namespace muster::service
