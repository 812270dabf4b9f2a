// Organizations whose rows caused a lock timeout in this worker. The worker skips their calls for a
// while, so that these do not delay other organizations again and again.
#pragma once

#include "base/ids.hpp"

#include <chrono>
#include <cstddef>
#include <unordered_map>

namespace muster::service {

class LockedOrganizations {
  public:
    using Clock = std::chrono::steady_clock;

    // Open: no lock timeout is remembered. Closed: skip the call. Probe: the closure is over; try
    // one call, and report how it ended.
    enum class Access : std::uint8_t { Open, Probe, Closed };
    Access access(OrgId organization, Clock::time_point now) const;
    // When to retry a skipped call: at the next probe, or after 10 ms if the organization is open.
    Clock::time_point next_attempt(OrgId organization, Clock::time_point now) const;

    // Closes the organization for 10 ms, and for twice the time after each further timeout, up to
    // half a second. `waited`: how long the call waited for the lock. After a long wait the closure
    // lasts at least as long, and may grow to 8 seconds.
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
