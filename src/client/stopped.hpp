// How a run that was asked to stop ends.
#pragma once

#include <stdexcept>

namespace muster::client {

// The run was asked to stop (Ctrl-C).
class Stopped : public std::runtime_error {
  public:
    Stopped() : std::runtime_error("stopped") {}
};

}  // namespace muster::client
