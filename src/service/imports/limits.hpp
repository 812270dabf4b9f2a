// Limits of imports (docs/api/limits.md).
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace muster::service {

inline constexpr std::int64_t kMostImportRows = 250'000;
inline constexpr std::size_t kMostStagedAtOnce = 5'000;
// From the creation of a job until it is deleted.
inline constexpr Milliseconds kImportRetention = std::chrono::days(30);

}  // namespace muster::service
