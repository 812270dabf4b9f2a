// Rate limits that all workers keep together: token buckets in memory mapped before the fork, and
// the header fields that tell a client about them (docs/api.md "Rate limits").
#pragma once

#include "base/secret.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::process {

// `per_second` requests in each `seconds` (one, unless the limit is one a minute), `burst` at once.
// What is out of range counts as the nearest that is in it: 1..100000, and 1..60 seconds.
struct RateLimit {
    std::int64_t per_second = 1;
    std::int64_t burst = 1;
    std::int64_t seconds = 1;
};
// `count` requests a minute, all at once if need be.
constexpr RateLimit a_minute(std::int64_t count) {
    return {count, count, 60};
}

struct RateVerdict {
    bool allowed = false;
    std::int64_t remaining = 0;  // requests that would pass at once, now
    int reset_seconds = 0;       // until the bucket is full again
    int retry_after = 0;         // seconds until one request passes; 0 where this one did
};

class RateLimiter {
  public:
    using Clock = std::chrono::steady_clock;  // one for all processes of the machine

    static constexpr std::size_t kSlots = 65'536;
    // Construct before the fork. `slots`: a power of two.
    explicit RateLimiter(std::size_t slots = kSlots);
    ~RateLimiter();
    RateLimiter(const RateLimiter&) = delete;
    RateLimiter& operator=(const RateLimiter&) = delete;

    // Takes one request from the bucket of that key, which is full when it was never heard of.
    // A request that is refused costs nothing. Any worker may call it at any time: it never waits.
    RateVerdict take(std::string_view bucket_key, const RateLimit& limit,
                     Clock::time_point now = Clock::now());

  private:
    struct Place;
    struct Found;
    Place place_of(std::string_view bucket_key) const;
    Found find(const Place& place, std::uint64_t now) const;
    bool is_held_elsewhere(const Place& place, std::size_t slot, std::uint64_t now) const;

    struct Slot;
    std::size_t slots_;
    Slot* table_;
    Secret seed_;
    Clock::time_point start_;
};

// draft-ietf-httpapi-ratelimit-headers: `"default";q=200;w=2` and `"default";r=199;t=1`.
std::string rate_policy_field(const RateLimit& limit);
std::string rate_limit_field(const RateVerdict& verdict);

}  // namespace muster::process
