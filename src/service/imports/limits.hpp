// Limits of imports (docs/api/limits.md).
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace muster::service {

inline constexpr std::int64_t kMostImportRows = 250'000;
inline constexpr std::size_t kMostStagedAtOnce = 5'000;
// These bound the stored parts that a staging call rewrites: what it reads, and what it writes. A
// body is at most 16 MiB. If its numbers are consecutive, it rewrites other rows of two parts only.
inline constexpr std::size_t kMostRewrittenBytes = std::size_t{24} << 20U;
inline constexpr std::size_t kMostRewrittenRows = 100'000;
// From the creation of a job until it is deleted.
inline constexpr Milliseconds kImportRetention = std::chrono::days(30);

}  // namespace muster::service
