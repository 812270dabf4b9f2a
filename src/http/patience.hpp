// How long a worker waits for the peers of its socket.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace muster::http {

struct Patience {
    // For a byte of a body, or for room in the buffer of a socket.
    std::chrono::milliseconds pause;
    // For all of that, in one batch.
    std::chrono::milliseconds total;
};

// The time that is left for a read or a write, from its creation on.
class PeerClock {
  public:
    explicit PeerClock(Patience patience)
        : pause_(patience.pause), until_(Clock::now() + patience.total) {}

    [[nodiscard]] bool is_over() const { return Clock::now() >= until_; }

    // Waits until the socket is ready for `events` (poll). False if the pause or the time is over.
    [[nodiscard]] bool await(int fd, short events) const {
        using std::chrono::milliseconds;
        const auto left = std::chrono::ceil<milliseconds>(until_ - Clock::now());
        const auto wait = std::clamp(left, milliseconds(0), pause_);
        pollfd ready{fd, events, 0};
        return poll(&ready, 1, static_cast<int>(wait.count())) != 0;
    }

  private:
    using Clock = std::chrono::steady_clock;

    std::chrono::milliseconds pause_;
    Clock::time_point until_;
};

}  // namespace muster::http
