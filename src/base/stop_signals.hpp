// Signals that ask a command to end early.
#pragma once

#include <atomic>
#include <initializer_list>

namespace muster {

// Watches these signals. Returns whether one has come. The first one sets it, a second one of the
// same kind ends the program. A signal that is ignored remains so: nohup ignores SIGHUP, so that a
// command outlives its terminal.
const std::atomic<bool>& watch_stop_signals(std::initializer_list<int> signals);

}  // namespace muster
