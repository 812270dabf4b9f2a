// The hook for tests of retention and expiry.
#pragma once

#include "base/time.hpp"

namespace muster {

// Shifts the clock of the programs that the tests run (tests/programs/clock_offset.cpp). Installed
// programs have no such function, so nothing can shift their clock.
[[gnu::weak]] Milliseconds test_clock_offset();

}  // namespace muster
