// The wall clock of the database tests.
#pragma once

#include "base/time.hpp"

namespace muster::test {

// Sets the wall clock of this program, as an administrator sets that of a host; the steady clock
// continues. The end of the lifetime sets it right again. At most one lives at a time.
class ClockChange {
  public:
    explicit ClockChange(Milliseconds by);
    ~ClockChange();
    ClockChange(const ClockChange&) = delete;
    ClockChange& operator=(const ClockChange&) = delete;
};

}  // namespace muster::test
