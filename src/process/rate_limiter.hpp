// Rate limits that all workers share: token buckets in memory mapped before the fork, and the
// header fields that describe them to clients (docs/api/limits.md "Rate limits").
#pragma once

#include "base/secret.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::process {

// `per_second` requests in each `seconds` (1, or 60 for limits per minute), and `burst` requests at
// once. Values are clamped: `per_second` and `burst` to 1..100000, `seconds` to 1..60.
struct RateLimit {
    std::int64_t per_second = 1;
    std::int64_t burst = 1;
    std::int64_t seconds = 1;
};
// `count` requests per minute, all of which may come at once.
constexpr RateLimit per_minute(std::int64_t count) {
    return {count, count, 60};
}

struct RateResult {
    bool allowed = false;
    std::int64_t remaining = 0;        // requests that would be accepted now
    int reset_seconds = 0;             // until the bucket is full again
    int retry_after = 0;               // seconds until a request is accepted; 0 if this one was
    std::chrono::microseconds wait{};  // until it may run, or until a token is there
};

class RateLimiter {
  public:
    using Clock = std::chrono::steady_clock;  // the same for all processes of the machine

    static constexpr std::size_t kSlots = 65'536;
    // Construct before the fork. `slots`: a power of two.
    explicit RateLimiter(std::size_t slots = kSlots);
    ~RateLimiter();
    RateLimiter(const RateLimiter&) = delete;
    RateLimiter& operator=(const RateLimiter&) = delete;

    // Charges one request to the bucket of this key. The bucket of a new key is full. A rejected
    // request is not charged. Never waits.
    RateResult take(std::string_view bucket_key, const RateLimit& limit,
                    Clock::time_point now = Clock::now());
    // Charges `count` tokens, 1 to 100000, if one of them will be there within `longest_wait`. The
    // caller then waits for the result's `wait`. The tokens may be more than the bucket has: later
    // requests wait for what is missing. So requests run in the order of their calls.
    RateResult reserve(std::string_view bucket_key, const RateLimit& limit, std::int64_t count,
                       std::chrono::microseconds longest_wait,
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
    Secret hash_key_;
    Clock::time_point start_;
};

// draft-ietf-httpapi-ratelimit-headers: `"default";q=200;w=2` and `"default";r=199;t=1`.
std::string rate_policy_field(const RateLimit& limit, std::string_view policy = "default");
std::string rate_limit_field(const RateResult& result, std::string_view policy = "default");

}  // namespace muster::process
