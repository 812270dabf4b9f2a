// The runner behind muster-run: gives each kind of work turn after turn until its time is over, and
// waits a moment when there is none. Each kind has a thread of its own, so that no kind waits for
// another: neither mail for an import's turn, nor an import for a mail server that hangs. It knows
// no kind; how to add one: a function in jobs/kinds.hpp that makes its Work, and a row in
// main/muster_run.cpp.
#pragma once

#include "base/time.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace muster::jobs {

// When to stop: a moment, or a signal that asked for it.
class Deadline {
  public:
    explicit Deadline(Timestamp end) : end_(end) {}
    bool over() const;
    // A signal came: whoever sent it waits.
    static bool stopped();
    // Sleeps for at most `span`, less when the time is over or a signal came.
    void pause(Milliseconds span) const;

  private:
    Timestamp end_;
};

struct Work {
    std::string_view name;
    // Does one turn's worth. False when there was nothing to do. Throws what it cannot handle; the
    // runner logs it and goes on in a second.
    std::function<bool(const Deadline&)> turn;
    // Work that is done once it has nothing to do (the purge), as against work that waits for more.
    bool ends_when_idle = false;
};

// SIGTERM and SIGINT end the run after the step at hand.
void install_stop_signals();

// Returns when all are through; true unless some turn failed. No two kinds may share a connection.
bool run(const std::vector<Work>& work, const Deadline& deadline);

}  // namespace muster::jobs
