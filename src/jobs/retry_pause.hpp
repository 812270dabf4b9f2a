// The pause of an import job or a member job after a failed attempt.
#pragma once

#include "base/time.hpp"

#include <algorithm>

namespace muster::jobs {

// Doubles with each attempt, from 2 seconds up to 256. jobs.attempts can be 100, and a job keeps
// its organization's only slot while it waits. `attempts`: those without progress so far; 0 after
// one that made progress.
constexpr Milliseconds retry_pause(int attempts) {
    constexpr int kMostDoublings = 8;
    return std::chrono::seconds(std::int64_t{1} << std::clamp(attempts, 1, kMostDoublings));
}

}  // namespace muster::jobs
