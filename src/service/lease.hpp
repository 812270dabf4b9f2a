// What the runner's leases on jobs have in common.
#pragma once

#include "base/time.hpp"
#include "service/context.hpp"

#include <cstdint>

namespace muster::service {

// Thrown by a step if the job was canceled or claimed by another runner, or if its organization was
// disabled. The runner stops without an error.
struct LeaseLost {};

// Whether a released job keeps its turn as an attempt.
enum class AttemptPolicy : std::uint8_t { Forgive, Count };

// The expiry of a lease renewed at `now`.
Timestamp lease_end(const Context& context, Timestamp now);

}  // namespace muster::service
